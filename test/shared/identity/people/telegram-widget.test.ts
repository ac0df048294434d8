import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createTelegram } from '#local/telegram.ts'
import { verifyWidget, type WidgetFields } from '#shared/identity/people/telegram/widget.ts'
import { TestClock } from '#testkit/clock.ts'

const {
  token,
  vectors,
}: { token: string; vectors: { name: string; kind: string; fields: WidgetFields; hash: string }[] } = JSON.parse(
  readFileSync(new URL('../../../vectors/telegram-sign-in.json', import.meta.url), 'utf8'),
)

const clock = new TestClock()

const seconds = Math.floor(clock.now() / 1_000)

const good = { id: 42, first_name: 'Bo', auth_date: seconds }

const signed = (fields: WidgetFields, key = createHash('sha256').update(token).digest()): WidgetFields => {
  const lines = Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name]}`)
  return { ...fields, hash: createHmac('sha256', key).update(lines.join('\n')).digest('hex') }
}

const verify = (fields: WidgetFields) => verifyWidget(clock, token, fields)

const refusal = (fields: WidgetFields): string => {
  try {
    verify(fields)
  } catch (error) {
    expect(error).toMatchObject({ code: 'unauthorized', status: 401 })
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

const own = vectors.filter(({ kind }) => kind === 'widget')

describe('the login widget’s answer is accepted', () => {
  it.each(own)('as signed in Python: $name', ({ fields, hash }) => {
    expect(verify(fields).hash).toBe(hash)
  })

  it('as signed by the local run’s Telegram', async () => {
    const telegram = await createTelegram({ token, username: 'some_bot', now: () => clock.now() })
    const person = telegram.person({ first_name: 'Ann', last_name: 'Lee' })
    const answer = telegram.widget(person)
    await telegram.stop()
    expect(verify({ ...answer }).person).toEqual({ id: person.id, name: 'Ann Lee', firstName: 'Ann', locale: 'en' })
  })
})

describe('the login widget’s answer is refused', () => {
  it('with any field changed, added or removed', () => {
    const fields = own[0]?.fields ?? {}
    for (const name of Object.keys(fields)) {
      expect(refusal({ ...fields, [name]: `${fields[name]}0` })).toContain('signature')
      const { [name]: _, ...others } = fields
      expect(refusal(others)).toContain('signature')
    }
    expect(refusal({ ...fields, extra: '' })).toContain('signature')
  })

  it('signed with the key of Mini Apps', () => {
    const key = createHmac('sha256', 'WebAppData').update(token).digest()
    expect(refusal(signed(good, key))).toContain('signature')
  })

  it('when a name contains lines that look like another person’s id', () => {
    // The same lines as those of {first_name: 'A\nid=1\nlast_name=B', id: 42}, split elsewhere.
    const { hash } = signed({ auth_date: seconds, first_name: 'A\nid=1\nlast_name=B', id: 42 })
    const forged = { auth_date: seconds, first_name: 'A', id: 1, last_name: 'B\nid=42', hash: hash as string }
    expect(refusal(forged)).toContain('signature')
  })

  it.each([
    ['older than ten minutes', { ...good, auth_date: seconds - 601 }, 'older than 10 minutes'],
    ['more than a minute ahead', { ...good, auth_date: seconds + 61 }, 'future'],
    ['without a date', { id: 42, first_name: 'Bo' }, 'no valid auth_date'],
    ['without an id', { first_name: 'Bo', auth_date: seconds }, 'no valid user'],
    ['with an invalid id', { ...good, id: 'x42' }, 'no valid user'],
    ['of a bot', { ...good, is_bot: 'true' }, 'no valid user'],
    ['too long', { ...good, photo_url: 'x'.repeat(9_000) }, 'longer than 8192 bytes'],
  ])('%s', (_what, fields, words) => {
    expect(refusal(signed(fields as WidgetFields))).toContain(words)
  })

  it('but is accepted from a minute ahead to ten minutes ago', () => {
    for (const age of [-60, 600]) verify(signed({ ...good, auth_date: seconds - age }))
  })
})
