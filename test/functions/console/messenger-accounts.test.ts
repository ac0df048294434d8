import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ClaimEntity } from '#shared/foundation/claims/entity.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { MemberEntity, MembershipEntity } from '#shared/identity/people/entity.ts'
import { runRemovalRound } from '#shared/lifecycle/removal/round.ts'
import { ThreadMessageEntity } from '#shared/messaging/messenger/entity.ts'
import { AccountEntity } from '#shared/work/threads/entity.ts'
import { scanTable } from '#test/functions/workers/workspace-removal-support.ts'
import { contents } from '#testkit/contents.ts'
import type { member } from '#testkit/fixtures.ts'
import { TEST_BOT } from '#testkit/platform.ts'
import { usingMessenger } from './messenger-support.ts'
import { listAudit, newTeam, workOf } from './people-support.ts'

const m = usingMessenger()
beforeEach(() => m.platform.clock.advance(60_000))

const accountIn = (workspace_id: string, id: string) => m.platform.deps.table.get(AccountEntity, { workspace_id, id })
const actions = async (workspaceId: string) => (await listAudit(m.platform, workspaceId)).map(({ action }) => action)

describe('a bot connected by its token', () => {
  it('is active at once, with a webhook and a secret of its own, and its token is never stored in plain text', async () => {
    const { bot, account, answer, workspaceId } = await m.connected()
    expect(answer.body).toMatchObject({
      kind: 'bot',
      status: 'active',
      reason: null,
      name: bot.user.first_name,
      username: bot.username,
      shared: true,
      can_reply: true,
      connect: null,
    })
    const { url, secretToken } = bot.updates.webhook ?? { url: '', secretToken: '' }
    expect(url).toBe(`https://platform.test/console/messenger/updates/${account.id}`)
    expect(secretToken).toMatch(/^[\w-]{43}$/)
    const other = await m.connected()
    expect(other.bot.updates.webhook?.secretToken).not.toBe(secretToken)
    const kept = [...(await contents(m.platform)).values()].join('\n')
    for (const secret of [bot.token, bot.token.split(':')[1] as string, secretToken]) {
      expect(kept).not.toContain(secret)
      expect(answer.text).not.toContain(secret)
      expect(m.platform.logs.join('\n')).not.toContain(secret)
    }
    expect(await actions(workspaceId)).toEqual(['messenger.account_connected'])
  })

  it('can be connected once on the platform, without revealing where', async () => {
    const { bot, admin, answer: first } = await m.connected()
    const { people } = await newTeam(m.platform, 'owner')
    const webhook = bot.updates.webhook
    for (const person of [admin, people[0] as typeof admin]) {
      const answer = await m.call(person, 'POST', '/accounts/bot', { token: bot.token, take_over: true })
      expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    }
    const foreign = await m.call(people[0] as typeof admin, 'POST', '/accounts/bot', {
      token: bot.token,
      take_over: true,
    })
    expect(foreign.text).not.toContain(first.body.id)
    // The connected account continues to receive messages.
    expect(bot.updates.webhook).toBe(webhook)
  })

  it('is connected by exactly one of many concurrent requests', async () => {
    const { people } = await newTeam(m.platform, 'admin')
    const admin = people[0] as NonNullable<(typeof people)[0]>
    const bot = m.newBot()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => m.call(admin, 'POST', '/accounts/bot', { token: bot.token })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    expect((await m.call(admin, 'GET', '/accounts')).body.items).toHaveLength(1)
  })

  it('is refused when it is the platform’s own, unknown to Telegram, or used elsewhere without confirmation', async () => {
    const { people } = await newTeam(m.platform, 'admin', 'member')
    const [admin, member] = people as [(typeof people)[0], (typeof people)[0]] as [never, never]
    const connect = (body: object, person = admin) => m.call(person, 'POST', '/accounts/bot', body)
    expect((await connect({ token: TEST_BOT.token })).status).toBe(409)
    const unknown = await connect({ token: '77:no-such-bot-at-all-anywhere' })
    expect([unknown.status, unknown.body.error.code]).toEqual([422, 'validation_error'])
    expect(unknown.text).not.toContain('no-such-bot')
    expect((await connect({ token: 'nonsense' })).status).toBe(422)
    const bot = m.newBot()
    expect((await connect({ token: bot.token }, member)).body.error.code).toBe('admin_required')
    await fetch(`${m.telegram.url}/bot${bot.token}/setWebhook?url=https://other.example/hook`)
    const taken = await connect({ token: bot.token })
    expect([taken.status, taken.body.error.details]).toEqual([409, { host: 'other.example' }])
    expect((await connect({ token: bot.token, take_over: true })).status).toBe(201)
    expect(bot.updates.webhook?.url).toMatch(/^https:\/\/platform\.test\//)
  })

  it('is connected by a worker when Telegram refuses the webhook at first', async () => {
    const { workspaceId, people } = await newTeam(m.platform, 'admin')
    const bot = m.newBot()
    bot.fail('setWebhook', { retry_after: 3 }, 2)
    const answer = await m.call(people[0] as never, 'POST', '/accounts/bot', { token: bot.token })
    expect([answer.status, answer.body.status]).toEqual([201, 'connecting'])
    for (const status of ['connecting', 'active']) {
      m.platform.clock.advance(5 * 60_000)
      await m.platform.sweep()
      await m.settle()
      expect((await accountIn(workspaceId, answer.body.id))?.status).toBe(status)
    }
  })

  it('is not connected for an admin who loses the role while Telegram responds', async () => {
    const { workspaceId, people } = await newTeam(m.platform, 'admin')
    const [admin] = people as [Awaited<ReturnType<typeof member>>]
    const { http, table } = m.platform.deps
    const send = http.send.bind(http)
    vi.spyOn(http, 'send').mockImplementationOnce(async (request) => {
      const key = { workspace_id: workspaceId, user_id: admin.user.id }
      await table.transact([MemberEntity.update(key, { set: { role: 'member' } })])
      return send(request)
    })
    const refused = await m.call(admin, 'POST', '/accounts/bot', { token: m.newBot().token })
    vi.restoreAllMocks()
    expect([refused.status, refused.body.error.code]).toEqual([403, 'admin_required'])
    expect((await m.call(admin, 'GET', '/accounts')).body.items).toEqual([])
  })

  it('whose token was revoked notifies the admins, sends nothing, and can be reconnected with its threads', async () => {
    const { bot, admin, others, account, workspaceId, chatId } = await m.talking('member', 'owner')
    bot.revoke()
    await m.call(admin, 'POST', `/chats/${chatId}/messages`, { text: 'Are you there?' })
    await m.settle()
    expect((await m.messages(admin, chatId)).at(-1)).toMatchObject({ status: 'failed', error: 'Unauthorized' })
    const { body } = await m.call(admin, 'GET', '/accounts')
    expect(body.items[0]).toMatchObject({ status: 'disconnected', reason: 'token_revoked' })
    const { items } = await m.platform.deps.table.query(
      NotificationEntity,
      { workspace_id: workspaceId },
      { limit: 20 },
    )
    const owner = others[1] as typeof admin
    expect(items.map(({ user_id, kind }) => [user_id, kind]).sort()).toEqual(
      [admin.user.id, owner.user.id].map((id) => [id, 'messenger.disconnected']).sort(),
    )
    expect((await m.call(admin, 'POST', `/chats/${chatId}/messages`, { text: 'Again' })).body.error.code).toBe(
      'conflict',
    )
    const next = m.telegram.bot({ token: `${bot.user.id}:its-new-secret-0123456789`, username: bot.username })
    const again = await m.call(admin, 'POST', '/accounts/bot', { token: next.token })
    expect([again.status, again.body.id, again.body.status]).toEqual([201, account.id, 'active'])
    expect((await m.call(admin, 'GET', '/chats')).body.items.map(({ id }: { id: string }) => id)).toEqual([chatId])
  })

  it('can be disconnected by an admin: webhook, token, threads and drafts are removed, and it can be connected again', async () => {
    const { bot, admin, others, account, workspaceId, chatId, contact } = await m.talking('member')
    const remove = (person: typeof admin) => m.call(person, 'DELETE', `/accounts/${account.id}`)
    expect((await remove(others[0] as typeof admin)).body.error.code).toBe('admin_required')
    await m.call(admin, 'POST', `/chats/${chatId}/messages`, { text: 'Never sent' })
    const sentBefore = bot.chat(contact).length
    expect((await remove(admin)).status).toBe(204)
    expect((await remove(admin)).status).toBe(404)
    expect((await m.call(admin, 'GET', `/chats/${chatId}`)).status).toBe(404)
    bot.fail('deleteWebhook', { error_code: 500, description: 'Internal Server Error' })
    await m.settle()
    expect(bot.updates.webhook).toBeDefined()
    m.platform.clock.advance(5 * 60_000)
    await m.platform.sweep()
    await m.settle()
    expect(bot.updates.webhook).toBeUndefined()
    expect(bot.chat(contact)).toHaveLength(sentBefore)
    const left = [...(await contents(m.platform)).entries()].filter(([key, item]) =>
      [account.id, chatId].some((id) => key.includes(id) || item.includes(id)),
    )
    expect(
      left.map(([, item]) => JSON.parse(item)._e).filter((kind) => !['audit', 'outbox', 'bucket'].includes(kind)),
    ).toEqual([])
    const claim = await m.platform.deps.table.get(ClaimEntity, { kind: 'telegram-bot', value: String(bot.user.id) })
    expect(claim).toBeUndefined()
    expect((await m.call(admin, 'POST', '/accounts/bot', { token: bot.token })).status).toBe(201)
    expect(await actions(workspaceId)).toEqual([
      'messenger.account_connected',
      'messenger.account_disconnected',
      'messenger.account_connected',
    ])
  })
})

describe('a personal account', () => {
  it('returns instructions for Telegram, and becomes active when Telegram reports the connection', async () => {
    const { person, answer, id } = await m.personal()
    expect(answer.body).toMatchObject({ kind: 'user', status: 'pending', shared: false, can_reply: false })
    expect(answer.body.connect).toMatchObject({
      username: 'platform_bot',
      url: expect.stringContaining('platform_bot'),
    })
    const { items } = (await m.call(person, 'GET', '/accounts')).body
    expect(items).toMatchObject([{ id, status: 'active', can_reply: true, user_id: person.user.id }])
    const again = await m.call(person, 'POST', '/accounts/user', {})
    expect([again.status, again.body.id]).toEqual([201, id])
  })

  it('is visible to its owner only, until they share it', async () => {
    const { person, owner, connection, id } = await m.personal()
    m.telegram.business.say(connection.id, m.newPerson(), 'For Ada only')
    await m.settle()
    const chat = (await m.call(person, 'GET', '/chats')).body.items[0]
    const nothing = async () => {
      expect((await m.call(owner, 'GET', '/accounts')).body.items).toEqual([])
      expect((await m.call(owner, 'GET', '/chats')).body.items).toEqual([])
      for (const [method, path, body] of [
        ['GET', `/chats/${chat.id}`],
        ['GET', `/chats/${chat.id}/messages`],
        ['POST', `/chats/${chat.id}/messages`, { text: 'x' }],
        ['PATCH', `/chats/${chat.id}`, { installation_id: null }],
        ['DELETE', `/accounts/${id}`],
        ['PATCH', `/accounts/${id}`, { shared: true }],
        ['GET', `/chats?account_id=${id}`],
      ] as const) {
        expect((await m.call(owner, method, path, body)).status, `${method} ${path}`).toBe(404)
      }
    }
    await nothing()
    const share = (shared: boolean) => m.call(person, 'PATCH', `/accounts/${id}`, { shared })
    expect((await share(true)).body.shared).toBe(true)
    expect((await m.call(owner, 'GET', '/chats')).body.items).toMatchObject([{ id: chat.id }])
    expect((await m.call(owner, 'PATCH', `/accounts/${id}`, { shared: false })).body.error.code).toBe('forbidden')
    expect((await share(false)).body.shared).toBe(false)
    await nothing()
  })

  it('requires a person who signed in with Telegram, in one workspace', async () => {
    const { people } = await newTeam(m.platform, 'member')
    const local = await m.call(people[0] as never, 'POST', '/accounts/user', {})
    expect([local.status, local.body.error.code]).toEqual([409, 'conflict'])
    // Another person's connection activates no account.
    const { person, id } = await m.personal()
    m.telegram.business.connect(m.newPerson('Mallory'))
    await m.settle()
    expect((await m.call(person, 'GET', '/accounts')).body.items).toMatchObject([{ id }])
  })

  describe('whose owner leaves the workspace', () => {
    /** Signs the same person in to another workspace. */
    const elsewhere = async ({ user, token }: { user: { id: string; name: string }; token: string }) => {
      const { workspaceId: workspace_id } = await newTeam(m.platform, 'owner')
      await m.platform.deps.table.transact([
        MemberEntity.create({ workspace_id, user_id: user.id, name: user.name, role: 'member', joined_at: 0 }),
        MembershipEntity.create({ user_id: user.id, workspace_id }),
      ])
      const { body } = await m.platform.call('POST', '/console/session/workspace', { token, body: { workspace_id } })
      return { token: body.token as string } as never
    }
    const leave = async (by: { token: string }, userId: string) => {
      const { status } = await m.platform.call('DELETE', `/console/members/${userId}`, { token: by.token })
      expect(status).toBe(204)
      await m.settle()
    }

    it('is deleted with its private threads, and can be connected elsewhere', async () => {
      const { person, owner, connection, workspaceId, id } = await m.personal()
      m.telegram.business.say(connection.id, m.newPerson(), 'For Ada only')
      await m.settle()
      const { conversation_id } = (await m.call(person, 'GET', '/chats')).body.items[0]
      const there = await elsewhere(person)
      await leave(owner, person.user.id)
      const { table } = m.platform.deps
      expect(await table.get(AccountEntity, { workspace_id: workspaceId, id })).toBe(undefined)
      expect((await table.query(ThreadMessageEntity, { conversation_id }, { limit: 9 })).items).toEqual([])
      const reconnected = await m.call(there, 'POST', '/accounts/user', {})
      expect([reconnected.status, reconnected.body.status]).toEqual([201, 'active'])
      m.telegram.business.say(connection.id, m.newPerson(), 'For Ada, elsewhere')
      await m.settle()
      expect((await m.call(there, 'GET', '/chats')).body.items).toHaveLength(1)
    })

    it('stays in the workspace when it was shared, receives nothing, and can be removed by an admin', async () => {
      const { person, owner, connection, id } = await m.personal({ shared: true })
      m.telegram.business.say(connection.id, m.newPerson(), 'For all')
      await m.settle()
      const there = await elsewhere(person)
      await leave(owner, person.user.id)
      const reconnected = await m.call(there, 'POST', '/accounts/user', {})
      expect([reconnected.status, reconnected.body.status]).toEqual([201, 'active'])
      m.telegram.business.say(connection.id, m.newPerson(), 'For Ada, elsewhere')
      await m.settle()
      expect((await m.call(owner, 'GET', '/accounts')).body.items).toMatchObject([
        { id, status: 'disconnected', reason: 'left_workspace' },
      ])
      expect((await m.call(owner, 'GET', '/chats')).body.items).toHaveLength(1)
      expect((await m.call(owner, 'DELETE', `/accounts/${id}`)).status).toBe(204)
      await m.settle()
      expect((await m.call(owner, 'GET', '/chats')).body.items).toEqual([])
      expect((await m.call(there, 'GET', '/accounts')).body.items).toMatchObject([{ status: 'active' }])
    })

    it('or deletes their account leaves none of its threads, and no Telegram data about them', async () => {
      const { person, connection, self, workspaceId, id } = await m.personal()
      m.telegram.business.say(connection.id, m.newPerson(), 'For Ada only')
      // The record of the ended connection is removed, too.
      m.platform.clock.advance(2_000)
      m.telegram.business.connect(self)
      await m.settle()
      const known = async () =>
        (await scanTable(m.platform)).filter(
          ({ pk, telegram_id }) => /^(TELEGRAM|BUSINESS)#/.test(String(pk)) && telegram_id === self.id,
        )
      expect(await known()).toHaveLength(3)
      const deletion = await m.platform.call('DELETE', '/console/me', { token: person.token })
      expect(deletion.status, deletion.text).toBe(204)
      expect(await known()).toEqual([])
      await runRemovalRound(workOf(m.platform))
      await m.settle()
      expect(await m.platform.deps.table.get(AccountEntity, { workspace_id: workspaceId, id })).toBe(undefined)
    })
  })

  it('is active at once for a person who connected the bot before', async () => {
    const { person, id } = await m.personal()
    expect((await m.call(person, 'DELETE', `/accounts/${id}`)).status).toBe(204)
    await m.settle()
    const reconnected = await m.call(person, 'POST', '/accounts/user', { shared: false })
    expect(reconnected.body).toMatchObject({ status: 'active', can_reply: true, connect: null })
    expect(reconnected.body.id).not.toBe(id)
  })

  it('that is disconnected in Telegram sends nothing, notifies its owner, and resumes when reconnected', async () => {
    const { person, connection, self, workspaceId } = await m.personal()
    const contact = m.newPerson()
    m.telegram.business.say(connection.id, contact, 'Hi Ada')
    await m.settle()
    const { id: chatId } = (await m.call(person, 'GET', '/chats')).body.items[0]
    await m.call(person, 'POST', `/chats/${chatId}/messages`, { text: 'Written before, not sent yet' })
    m.telegram.business.change(connection.id, { enabled: false })
    await m.settle()
    expect((await m.call(person, 'GET', '/accounts')).body.items).toMatchObject([
      { status: 'disconnected', reason: 'connection_ended', can_reply: false },
    ])
    const { items } = await m.platform.deps.table.query(NotificationEntity, { workspace_id: workspaceId }, { limit: 9 })
    expect(items.map(({ user_id }) => user_id)).toEqual([person.user.id])
    const refused = await m.call(person, 'POST', `/chats/${chatId}/messages`, { text: 'x' })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    m.platform.clock.advance(1_000)
    m.telegram.business.connect(self)
    await m.settle()
    expect((await m.call(person, 'GET', '/accounts')).body.items).toMatchObject([{ status: 'active', reason: null }])
  })

  it('follows the latest state in Telegram, however late and in whatever order updates arrive', async () => {
    const { person, connection, self } = await m.personal()
    const off = m.telegram.business.change(connection.id, { enabled: false })
    m.platform.clock.advance(2_000)
    const on = m.telegram.business.connect(self)
    await m.settle()
    const state = async () => (await m.call(person, 'GET', '/accounts')).body.items[0].status
    expect(await state()).toBe('active')
    // The same updates again, with the older one last.
    for (const update of [
      { business_connection: { ...on.connection } },
      { business_connection: { ...connection, is_enabled: true } },
      { business_connection: { ...connection, is_enabled: false } },
    ]) {
      await m.arrive(update)
      expect(await state()).toBe('active')
    }
    expect(off).toBeGreaterThan(0)
  })
})
