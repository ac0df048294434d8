import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sign } from '@tma.js/init-data-node'
import { describe, expect, it } from 'vitest'
import { createTelegram } from '#local/telegram.ts'
import { verifyInitData } from '#shared/identity/people/telegram/init-data.ts'
import { TestClock } from '#testkit/clock.ts'

/** Signed by another implementation, as the file explains. */
const {
  token,
  vectors,
}: { token: string; vectors: { name: string; kind: string; init_data: string; hash: string }[] } = JSON.parse(
  readFileSync(new URL('../../../vectors/telegram-sign-in.json', import.meta.url), 'utf8'),
)

/** An example that Telegram itself signed, from docs.telegram-mini-apps.com ("Init Data", "Validating"). */
const BY_TELEGRAM = {
  token: '5768337691:AAH5YkoiEuPk8-FZa32hStHTqXiLPtAEhx8',
  initData:
    'query_id=AAHdF6IQAAAAAN0XohDhrOrc&user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22Vladislav%22%2C%22last_name%22%3A%22Kibenko%22%2C%22username%22%3A%22vdkfrost%22%2C%22language_code%22%3A%22ru%22%2C%22is_premium%22%3Atrue%7D&auth_date=1662771648&hash=c501b71e775f74ce10e377dea85a7ea24ecd640b223ea86dfe453e0eaed2e2b2',
  at: 1_662_771_648_000,
}

const clock = new TestClock()

const USER = { id: 42, first_name: 'Bo' }

const seconds = Math.floor(clock.now() / 1_000)

/** Signs any fields with a valid hash. */
const signed = (fields: Record<string, string>): string => {
  const lines = Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name]}`)
  const key = createHmac('sha256', 'WebAppData').update(token).digest()
  const hash = createHmac('sha256', key).update(lines.join('\n')).digest('hex')
  return new URLSearchParams({ ...fields, hash }).toString()
}

const verify = (initData: string, at = clock) => verifyInitData(at, token, initData)

const refusal = (initData: string, at = clock): string => {
  try {
    verify(initData, at)
  } catch (error) {
    expect(error).toMatchObject({ code: 'unauthorized', status: 401, fix: expect.stringContaining('Reopen the app') })
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

describe('init data is accepted', () => {
  const own = vectors.filter(({ kind }) => kind === 'init_data')
  it.each(own)('as signed in Python: $name', ({ init_data, hash }) => {
    expect(verify(init_data).hash).toBe(hash)
  })

  it('as signed by Telegram', () => {
    const { person } = verifyInitData(new TestClock(BY_TELEGRAM.at), BY_TELEGRAM.token, BY_TELEGRAM.initData)
    expect(person).toEqual({
      id: 279_058_397,
      name: 'Vladislav Kibenko',
      firstName: 'Vladislav',
      handle: 'vdkfrost',
      locale: 'ru',
    })
  })

  it('as signed by @tma.js/init-data-node', () => {
    const made = sign({ user: { ...USER, last_name: 'Ünal' }, start_param: 'x' }, token, new Date(clock.now()))
    expect(verify(made).person).toEqual({ id: 42, name: 'Bo Ünal', firstName: 'Bo', locale: 'en' })
  })

  it('as signed by the local run’s Telegram, with its signature for third parties', async () => {
    const telegram = await createTelegram({ token, username: 'some_bot', now: () => clock.now() })
    const made = telegram.initData(telegram.person({ first_name: 'Ann', language_code: 'pt-br' }))
    await telegram.stop()
    expect(made).toContain('signature=')
    expect(verify(made).person).toMatchObject({ name: 'Ann', locale: 'pt-BR' })
  })

  it('from a minute ahead to ten minutes ago', () => {
    for (const age of [-60, 0, 599, 600]) {
      verify(signed({ user: JSON.stringify(USER), auth_date: String(seconds - age) }))
    }
  })
})

describe('init data is refused', () => {
  const good = { user: JSON.stringify(USER), auth_date: String(seconds) }

  it('with any field changed, added or removed, the signature for third parties too', () => {
    const init_data = vectors[0]?.init_data ?? ''
    const changed = new URLSearchParams(init_data)
    for (const name of changed.keys()) {
      const other = new URLSearchParams(init_data)
      other.set(name, `${other.get(name)}0`)
      expect(refusal(other.toString())).toContain('signature')
      other.delete(name)
      expect(refusal(other.toString())).toContain('signature')
    }
    expect(refusal(`${init_data}&extra=1`)).toContain('signature')
  })

  it('signed with another bot’s token, or for the login widget', () => {
    const other = sign({ user: USER }, '43:another-bot', new Date(clock.now()))
    expect(refusal(other)).toContain('signature')
  })

  it('older than ten minutes, or more than a minute ahead', () => {
    const at = (age: number) => signed({ ...good, auth_date: String(seconds - age) })
    expect(refusal(at(601))).toContain('older than 10 minutes')
    expect(refusal(at(-61))).toContain('future')
    const later = new TestClock(clock.now() + 600_001)
    expect(refusal(at(0), later)).toContain('older than 10 minutes')
  })

  it.each([
    ['no date', { user: good.user }, 'no valid auth_date'],
    ['an invalid date', { ...good, auth_date: '1e9' }, 'no valid auth_date'],
    ['an endless date', { ...good, auth_date: '9'.repeat(400) }, 'no valid auth_date'],
    ['no person', { auth_date: good.auth_date }, 'no valid user'],
    ['a person that is no JSON', { ...good, user: '{"id":42' }, 'no valid user'],
    ['a person that is a list', { ...good, user: '[42]' }, 'no valid user'],
    ['a person without an id', { ...good, user: '{"first_name":"Bo"}' }, 'no valid user'],
    ['an id that is a text', { ...good, user: '{"id":"42"}' }, 'no valid user'],
    ['an id that is no whole number', { ...good, user: '{"id":4.2}' }, 'no valid user'],
    ['an id that no number holds exactly', { ...good, user: '{"id":9007199254740993}' }, 'no valid user'],
    ['a bot', { ...good, user: JSON.stringify({ ...USER, is_bot: true }) }, 'no valid user'],
    ['a line break that a field could hide behind', { ...good, start_param: 'a\nb=c' }, 'signature'],
  ])('with a valid hash, but %s', (_what, fields, words) => {
    expect(refusal(signed(fields as Record<string, string>))).toContain(words)
  })

  it('with a repeated field', () => {
    expect(refusal(`${signed(good)}&auth_date=${seconds}`)).toContain('twice')
  })

  it('empty, without a hash, or too long', () => {
    expect(refusal('')).toContain('signature')
    expect(refusal(new URLSearchParams(good).toString())).toContain('signature')
    expect(refusal(signed({ ...good, chat: 'x'.repeat(9_000) }))).toContain('longer than 8192 bytes')
  })
})

describe('a person', () => {
  const named = (user: object) =>
    verify(signed({ user: JSON.stringify({ id: 1, ...user }), auth_date: String(seconds) })).person
  it('always has a one-line name', () => {
    expect(named({ first_name: ' Ann \n', last_name: 'B' })).toMatchObject({ name: 'Ann B', firstName: 'Ann' })
    expect(named({ first_name: '', username: 'ann' })).toMatchObject({ name: 'ann', firstName: 'ann' })
    expect(named({ first_name: ' ' })).toMatchObject({ name: 'Somebody' })
    expect(named({ first_name: '😀'.repeat(300) }).name).toBe('😀'.repeat(100))
  })

  it('has a valid locale', () => {
    expect(['zh-hans', 'not a tag', '', undefined].map((language_code) => named({ language_code }).locale)).toEqual([
      'zh-Hans',
      'en',
      'en',
      'en',
    ])
  })
})
