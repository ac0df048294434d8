import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import {
  MemberEntity,
  MembershipEntity,
  SessionEntity,
  UsedSignInEntity,
  UserEntity,
  WorkspaceEntity,
} from '#shared/identity/people/entity.ts'
import { contents, difference } from '#testkit/contents.ts'
import { workspace as newWorkspace } from '#testkit/fixtures.ts'
import { holdUntil } from '#testkit/oauth.ts'
import { startPlatform, TEST_BOT } from '#testkit/platform.ts'
import { usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
beforeEach(() => platform.clock.advance(60_000))

let people = 0
const newPerson = (fields: object = {}) =>
  telegram.person({ first_name: `Ann ${++people}`, language_code: 'pt-br', ...fields })
type Person = ReturnType<typeof newPerson>

const webApp = (init_data: string, headers: Record<string, string> = {}) =>
  platform.call('POST', '/console/bot/webapp-auth', { body: { init_data }, headers })
const widgetAuth = (body: object, headers: Record<string, string> = {}) =>
  platform.call('POST', '/console/bot/widget-auth', { body, headers })
/** Init data differs by its date, so each sign-in is a new one. */
const signIn = async (person: Person, headers?: Record<string, string>) => {
  platform.clock.advance(1_000)
  return webApp(telegram.initData(person), headers)
}
const me = (token: string) => platform.call('GET', '/console/me', { token })
const sessionOf = async (token: string) => {
  const { ses } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return platform.deps.table.get(SessionEntity, { id: ses })
}
const refused = (answer: { status: number; body: { error: { code: string; message: string } } }, words: string) => {
  expect([answer.status, answer.body.error?.code], JSON.stringify(answer.body)).toEqual([401, 'unauthorized'])
  expect(answer.body.error.message).toContain(words)
}

describe('signing in through Telegram', () => {
  it('creates the person and a workspace that they own', async () => {
    const answer = await signIn(newPerson({ last_name: 'Lee' }))
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const name = `Ann ${people}`
    expect(answer.body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 43_200,
      user: { id: expect.stringMatching(/^usr_/), name: `${name} Lee`, locale: 'pt-BR', time_zone: 'UTC' },
      workspace: { name: `${name}’s workspace`, is_sandbox: false, role: 'owner', locale: 'pt-BR' },
    })
    const seen = await me(answer.body.token)
    expect(seen.body).toMatchObject({ user: answer.body.user, workspace: answer.body.workspace })
  })

  it('names the first workspace in the person’s language', async () => {
    const { body } = await signIn(newPerson({ first_name: 'Ann', language_code: 'de' }))
    expect(body.workspace.name).toBe('Workspace von Ann')
  })

  it('finds the same account through Mini App and login widget, and records which one was used', async () => {
    const person = newPerson()
    const first = await signIn(person)
    const second = await widgetAuth({ ...telegram.widget(person) })
    expect(second.status, second.text).toBe(200)
    expect([second.body.user.id, second.body.workspace.id]).toEqual([first.body.user.id, first.body.workspace.id])
    expect((await sessionOf(first.body.token))?.via).toBe('init_data')
    expect((await sessionOf(second.body.token))?.via).toBe('widget')
    const provisioned = await platform.call('POST', '/console/session', { body: { user: 'via' } })
    expect((await sessionOf(provisioned.body.token))?.via).toBe('provisioned')
  })

  it('updates the name from Telegram', async () => {
    const person = newPerson()
    await signIn(person)
    const renamed = await signIn({ ...person, first_name: 'Zoë', language_code: 'fr' })
    expect(renamed.body.user).toMatchObject({ name: 'Zoë', locale: 'pt-BR' })
    expect((await me(renamed.body.token)).body.user.name).toBe('Zoë')
    expect(renamed.body.workspace.name).toBe(`Ann ${people}’s workspace`)
  })

  it.each([
    ['\u202Egnorw\u0000', 'gnorw'],
    ['\u2066\u200B\u2069', 'Somebody'],
    ['نیم\u200Cفاصله 👩\u200D🚀', 'نیم\u200Cفاصله 👩\u200D🚀'],
  ])('strips characters from a name that reorder or hide adjacent text (%j)', async (first_name, name) => {
    expect((await signIn({ ...newPerson(), first_name })).body.user.name).toBe(name)
  })

  it('creates one person for two concurrent first sign-ins', async () => {
    const person = newPerson()
    const release = holdUntil(platform, 'identity', 2)
    const [one, two] = await Promise.all([
      webApp(telegram.initData(person)),
      widgetAuth({ ...telegram.widget(person) }),
    ])
    release()
    expect([one.status, two.status]).toEqual([200, 200])
    expect(two.body.user).toEqual(one.body.user)
    expect(two.body.workspace).toEqual(one.body.workspace)
    expect(two.body.token).not.toBe(one.body.token)
    for (const { body } of [one, two]) expect((await me(body.token)).status).toBe(200)
    const { items } = await platform.deps.table.query(MembershipEntity, { user_id: one.body.user.id }, { limit: 10 })
    expect(items).toHaveLength(1)
  })

  it('opens the last workspace, another one if the person left that, and a new one if there is none', async () => {
    const { table } = platform.deps
    const person = newPerson()
    const { user, workspace, token } = (await signIn(person)).body
    const other = await newWorkspace(platform.deps)
    const at = { workspace_id: other.id, user_id: user.id }
    await table.transact([
      MemberEntity.create({ ...at, name: user.name, role: 'member', joined_at: platform.clock.now() }),
      MembershipEntity.create(at),
    ])
    await platform.call('POST', '/console/session/workspace', { token, body: { workspace_id: other.id } })
    expect((await signIn(person)).body.workspace).toMatchObject({ id: other.id, role: 'member' })

    const leave = (workspace_id: string) =>
      table.transact([
        MemberEntity.delete({ workspace_id, user_id: user.id }),
        MembershipEntity.delete({ workspace_id, user_id: user.id }),
      ])
    await leave(other.id)
    expect((await signIn(person)).body.workspace.id).toBe(workspace.id)
    await leave(workspace.id)
    platform.clock.advance(1_000)
    const release = holdUntil(platform, 'workspace', 2)
    const [one, two] = await Promise.all([
      webApp(telegram.initData(person)),
      widgetAuth({ ...telegram.widget(person) }),
    ])
    release()
    expect(one.body.workspace).toMatchObject({ name: `${person.first_name}’s workspace`, role: 'owner' })
    expect([workspace.id, other.id]).not.toContain(one.body.workspace.id)
    expect(two.body.workspace.id).toBe(one.body.workspace.id)
    expect((await signIn(person)).body.workspace.id).toBe(one.body.workspace.id)
  })

  it('doesn’t open a workspace that the person is concurrently removed from', async () => {
    const person = newPerson()
    const { user, workspace } = (await signIn(person)).body
    const { table } = platform.deps
    const { transact } = table
    table.transact = async (writes) => {
      table.transact = transact
      await table.transact([MemberEntity.delete({ workspace_id: workspace.id, user_id: user.id })])
      await table.transact(writes)
    }
    platform.clock.advance(1_000)
    const answer = await webApp(telegram.initData(person))
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.workspace.id).not.toBe(workspace.id)
    expect((await me(answer.body.token)).status).toBe(200)
  })

  it('is refused for a blocked person', async () => {
    const person = newPerson()
    const { user } = (await signIn(person)).body
    await platform.deps.table.transact([UserEntity.update({ id: user.id }, { set: { status: 'blocked' } })])
    const answer = await signIn(person)
    expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden'])
    expect(answer.body.error.message).toContain('blocked')
  })
})

describe('sign-in data', () => {
  it('is accepted once across both endpoints', async () => {
    const init = telegram.initData(newPerson())
    expect((await webApp(init)).status).toBe(200)
    refused(await webApp(init), 'already used')
    const shuffled = new URLSearchParams([...new URLSearchParams(init)].reverse()).toString()
    refused(await webApp(shuffled), 'already used')
    const answer = { ...telegram.widget(newPerson()) }
    expect((await widgetAuth(answer)).status).toBe(200)
    refused(await widgetAuth({ ...answer, id: String(answer.id) }), 'already used')
  })

  it('opens one session when sent twice concurrently', async () => {
    const person = newPerson()
    await signIn(person)
    platform.clock.advance(1_000)
    const init = telegram.initData(person)
    const release = holdUntil(platform, 'used-sign-in', 2)
    const answers = await Promise.all([webApp(init), webApp(init)])
    release()
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('is refused with a message and a next step for another bot, after tampering, or with a wrong age', async () => {
    const person = newPerson()
    const init = telegram.initData(person)
    const wrong = await webApp(`${init}&x=1`)
    refused(wrong, 'signature')
    expect(wrong.body.error.fix).toContain('Reopen the app')
    refused(await widgetAuth({ ...telegram.widget(person), username: 'somebody_else' }), 'signature')
    platform.clock.advance(600_001)
    refused(await webApp(init), 'older than 10 minutes')
    const ahead = String(Math.floor(platform.clock.now() / 1_000) + 62)
    refused(await webApp(telegram.initData(person, { auth_date: ahead })), 'future')
    refused(await widgetAuth({ ...telegram.widget(person, { auth_date: ahead }) }), 'future')
  })

  it('leaves nothing behind when it is refused', async () => {
    const before = await contents(platform)
    await webApp(`${telegram.initData(newPerson())}0`)
    await widgetAuth({ ...telegram.widget(newPerson()), hash: '0' })
    expect(difference(before, await contents(platform))).toEqual({})
  })

  it('counts against its source address when it is invalid', async () => {
    const strict = await startPlatform({ ADDRESS_RATE_LIMITS: 'true' })
    try {
      const attempt = (sourceIp: string) =>
        strict.call('POST', '/console/bot/webapp-auth', { body: { init_data: 'hash=0' }, sourceIp })
      const statuses = []
      for (let i = 0; i < 21; i++) statuses.push((await attempt('203.0.113.1')).status)
      expect(statuses).toEqual([...Array(20).fill(401), 429])
      expect((await attempt('203.0.113.2')).status).toBe(401)
    } finally {
      await strict.stop()
    }
  })

  it('opens a session only where a bot is configured', async () => {
    const { bot } = platform.deps
    platform.deps.bot = createTelegramBot({
      credentials: async () => undefined,
      apiUrl: telegram.url,
      clock: platform.clock,
    })
    const answer = await signIn(newPerson())
    platform.deps.bot = bot
    expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden'])
    expect(answer.body.error.message).toContain('no bot is configured')
  })
})

describe('repeating a sign-in with the same Idempotency-Key', () => {
  const keyed = () => ({ 'idempotency-key': randomUUID() })

  it('returns the same session, even when the data has expired by then', async () => {
    const key = keyed()
    const init = telegram.initData(newPerson())
    const first = await webApp(init, key)
    platform.clock.advance(3_600_000)
    const again = await webApp(init, key)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.text).toBe(first.text)
    refused(await webApp(init, keyed()), 'older')
    const hash = new URLSearchParams(init).get('hash') ?? ''
    const used = await platform.deps.table.get(UsedSignInEntity, { hash })
    // The key is remembered longer than future-dated data takes to expire.
    expect(used?.expires_at).toBeGreaterThan(platform.clock.now() - 3_600_000 + 660_000)
    const answer = { ...telegram.widget(newPerson()) }
    const widgetKey = keyed()
    const one = await widgetAuth(answer, widgetKey)
    expect((await widgetAuth(answer, widgetKey)).text).toBe(one.text)
  })

  it.each(['webapp', 'widget'])('doesn’t return a session that has ended in the meantime (%s)', async (kind) => {
    const person = newPerson()
    const init = telegram.initData(person)
    const answer = { ...telegram.widget(person) }
    const key = keyed()
    const send = () => (kind === 'webapp' ? webApp(init, key) : widgetAuth(answer, key))
    const { token } = (await send()).body
    expect((await platform.call('DELETE', '/console/session', { token })).status).toBe(204)
    refused(await send(), 'already used')
    expect((await me(token)).status).toBe(401)
  })

  it('doesn’t return a session in a workspace from which the person was removed in the meantime', async () => {
    const init = telegram.initData(newPerson())
    const key = keyed()
    const { user, workspace } = (await webApp(init, key)).body
    await platform.deps.table.transact([MemberEntity.delete({ workspace_id: workspace.id, user_id: user.id })])
    refused(await webApp(init, key), 'already used')
  })

  it('refuses invalid sign-in data the same way again', async () => {
    for (const send of [
      (key: Record<string, string>) =>
        platform.call('POST', '/console/bot/webapp-auth', {
          body: { init_data: `hash=${'0'.repeat(3_000)}`, more: 1 },
          headers: key,
        }),
      (key: Record<string, string>) => widgetAuth({ hash: '0'.repeat(3_000) }, key),
    ]) {
      const key = keyed()
      for (let i = 0; i < 2; i++) expect((await send(key)).status).toBe(422)
    }
  })

  it('returns nothing once the person is blocked, or the session has expired', async () => {
    const [one, two] = [newPerson(), newPerson()]
    const [first, second] = [telegram.initData(one), telegram.initData(two)]
    const [key, other] = [keyed(), keyed()]
    const { user } = (await webApp(first, key)).body
    expect((await webApp(second, other)).status).toBe(200)
    await platform.deps.table.transact([UserEntity.update({ id: user.id }, { set: { status: 'blocked' } })])
    expect((await webApp(first, key)).body.error.code).toBe('forbidden')
    platform.clock.advance(12 * 3_600_000)
    refused(await webApp(second, other), 'older')
  })

  it('completes the sign-in when the first request crashed before or after its transaction', async () => {
    const { table } = platform.deps
    for (const deadly of ['before', 'after'] as const) {
      const init = telegram.initData(newPerson())
      const key = keyed()
      const { transact } = table
      table.transact = async (writes) => {
        const signing = writes.some(({ entity }) => entity.name === 'used-sign-in')
        if (!signing || deadly === 'after') await transact.call(table, writes)
        if (signing) throw new Error('the process died')
      }
      expect((await webApp(init, key)).status).toBe(500)
      table.transact = transact
      platform.clock.advance(36_000)
      const retried = await webApp(init, key)
      expect(retried.status, deadly).toBe(200)
      expect(retried.headers['idempotency-replayed']).toBe(deadly === 'after' ? 'true' : undefined)
      expect((await me(retried.body.token)).status).toBe(200)
    }
  })
})

it('logs contain no token, hash, name or sign-in data', async () => {
  const person = newPerson({ last_name: 'Secretname' })
  const init = telegram.initData(person)
  await webApp(init)
  await webApp(init)
  const logs = platform.logs.join('\n')
  expect(logs).toContain('console.bot.webAppAuth')
  for (const secret of [TEST_BOT.token, 'test-bot-token', new URLSearchParams(init).get('hash') ?? '', 'Secretname']) {
    expect(logs).not.toContain(secret)
  }
})

it('a person’s first workspace is an ordinary one', async () => {
  const { workspace } = (await signIn(newPerson())).body
  expect(await platform.deps.table.get(WorkspaceEntity, { id: workspace.id })).toMatchObject({
    status: 'active',
    is_sandbox: false,
    cross_agent_enabled: true,
  })
})
