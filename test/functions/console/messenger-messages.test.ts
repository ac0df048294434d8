import { beforeEach, describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { OutgoingEntity, ThreadMessageEntity } from '#shared/messaging/messenger/entity.ts'
import { contents, difference } from '#testkit/contents.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingMessenger } from './messenger-support.ts'

const m = usingMessenger()
beforeEach(() => m.platform.clock.advance(60_000))

type Talking = Awaited<ReturnType<typeof m.talking>>
const texts = async ({ admin, chatId }: Pick<Talking, 'admin' | 'chatId'>) =>
  (await m.messages(admin, chatId)).map(({ text }: { text: string }) => text)
const write = ({ admin, chatId }: Pick<Talking, 'admin' | 'chatId'>, text: string) =>
  m.call(admin, 'POST', `/chats/${chatId}/messages`, { text })
/** Lists the messages that a contact received from the bot. */
const receivedFromBot = ({ bot, contact }: Pick<Talking, 'bot' | 'contact'>) =>
  bot.chat(contact).filter(({ from }) => from.is_bot)
const SENT = 'sendmessage'
const sends = ({ bot }: Pick<Talking, 'bot'>) => bot.calls.filter(({ method }) => method === SENT)

describe('incoming messages', () => {
  it('create a thread, in the order in which they were sent', async () => {
    const scene = await m.talking()
    const { admin, bot, contact, account } = scene
    bot.say(contact, 'How are you?')
    await m.settle()
    const { body } = await m.call(admin, 'GET', `/chats?account_id=${account.id}`)
    expect(body.items).toMatchObject([
      {
        account_id: account.id,
        kind: 'private',
        title: contact.first_name,
        agent: null,
        reply_until: null,
        last_message: { text: 'How are you?', direction: 'in' },
      },
    ])
    const list = await m.messages(admin, scene.chatId)
    expect(list).toMatchObject([
      { direction: 'in', status: 'received', content: 'text', text: 'Hello', author: { type: 'contact' } },
      { direction: 'in', status: 'received', content: 'text', text: 'How are you?' },
    ])
  })

  it('are stored once, however often and concurrently an update is delivered', async () => {
    const scene = await m.talking()
    const id = scene.bot.say(scene.contact, 'Once')
    await m.settle()
    const before = await contents(m.platform)
    const statuses = await Promise.all(Array.from({ length: 5 }, () => scene.bot.redeliver(id)))
    expect(statuses).toEqual(Array(5).fill(200))
    expect(difference(before, await contents(m.platform))).toEqual({})
    const hook = scene.bot.updates.webhook
    const update = {
      update_id: 99_000,
      message: { ...scene.bot.chat(scene.contact)[0], message_id: 7_777, text: 'All at once' },
    }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        m.platform.call('POST', `/console/messenger/updates/${scene.account.id}`, {
          body: update,
          headers: { 'x-telegram-bot-api-secret-token': hook?.secretToken ?? '' },
        }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await texts(scene)).filter((text: string) => text === 'All at once')).toHaveLength(1)
  })

  it('are refused without the account’s own secret, even with another account’s', async () => {
    const [scene, other] = [await m.talking(), await m.connected()]
    const before = await contents(m.platform)
    for (const secret of [undefined, '', 'wrong', other.bot.updates.webhook?.secretToken]) {
      for (const id of [scene.account.id, 'acc_01kae5m1v8w6c3x9q2r7t4y0zn']) {
        const answer = await m.platform.call('POST', `/console/messenger/updates/${id}`, {
          body: { update_id: 5, message: scene.bot.chat(scene.contact)[0] },
          headers: secret === undefined ? {} : { 'x-telegram-bot-api-secret-token': secret },
        })
        expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized'])
      }
    }
    expect(difference(before, await contents(m.platform))).toEqual({})
  })

  it('are not stored when they come from groups, channels, bots or unknown types, and non-text content is described', async () => {
    const scene = await m.talking()
    const { bot, contact } = scene
    const before = await contents(m.platform)
    for (const more of [
      { chat: { id: -100, type: 'supergroup', title: 'Group' } },
      { chat: { id: -100, type: 'channel', title: 'Channel' } },
      { from: { ...contact, is_bot: true } },
      { from: undefined },
    ]) {
      bot.say(contact, 'x', more)
    }
    await m.settle()
    const headers = { 'x-telegram-bot-api-secret-token': bot.updates.webhook?.secretToken ?? '' }
    for (const body of [{ update_id: 1 }, { update_id: 2, future: {} }, { update_id: 3, message: 'text' }]) {
      const path = `/console/messenger/updates/${scene.account.id}`
      expect((await m.platform.call('POST', path, { body, headers })).status).toBe(200)
    }
    expect(difference(before, await contents(m.platform))).toEqual({})
    bot.say(contact, 'x', { text: undefined, photo: [{}], caption: 'Look' })
    bot.say(contact, 'x', { text: undefined, sticker: {} })
    bot.say(contact, 'x', { text: undefined, something_new: {} })
    await m.settle()
    const list = await m.messages(scene.admin, scene.chatId)
    expect(list.slice(1).map((one: Record<string, unknown>) => [one.content, one.text, one.caption])).toEqual([
      ['photo', '[photo] Look', 'Look'],
      ['sticker', '[sticker]', null],
      ['other', '[other]', null],
    ])
  })

  it('follow edits, and ignore an older edit that arrives late', async () => {
    const scene = await m.talking()
    const { message_id } = scene.bot.chat(scene.contact)[0] as { message_id: number }
    m.platform.clock.advance(5_000)
    const first = scene.bot.edit(scene.contact, message_id, 'Hello, edited')
    m.platform.clock.advance(5_000)
    scene.bot.edit(scene.contact, message_id, 'Hello, edited twice')
    await m.settle()
    expect(await texts(scene)).toEqual(['Hello, edited twice'])
    await scene.bot.redeliver(first)
    expect(await texts(scene)).toEqual(['Hello, edited twice'])
    const [message] = await m.messages(scene.admin, scene.chatId)
    expect(message.edited_at).toMatch(/Z|\+00:00$/)
  })

  it('are stored once even when their edit arrives first', async () => {
    const scene = await m.talking()
    const headers = { 'x-telegram-bot-api-secret-token': scene.bot.updates.webhook?.secretToken ?? '' }
    const take = (body: object) =>
      m.platform.call('POST', `/console/messenger/updates/${scene.account.id}`, { body, headers })
    const date = Math.floor(m.platform.clock.now() / 1_000)
    const message = { ...scene.bot.chat(scene.contact)[0], message_id: 500, date, text: 'New' }
    await take({ update_id: 8_002, edited_message: { ...message, text: 'Newer', edit_date: date + 1 } })
    await take({ update_id: 8_001, message })
    expect(await texts(scene)).toEqual(['Hello', 'Newer'])
  })
})

describe('outgoing messages', () => {
  it('are sent at once, and their status shows it', async () => {
    const scene = await m.talking('member')
    const answer = await m.call(scene.others[0] as typeof scene.admin, 'POST', `/chats/${scene.chatId}/messages`, {
      text: '  Hi there  ',
    })
    expect([answer.status, answer.body]).toMatchObject([201, { status: 'sending', direction: 'out', text: 'Hi there' }])
    await m.settle()
    expect(receivedFromBot(scene).map(({ text }) => text)).toEqual(['Hi there'])
    expect((await m.messages(scene.admin, scene.chatId)).at(-1)).toMatchObject({
      status: 'sent',
      error: null,
      sent_at: expect.any(String),
      author: { type: 'user', id: scene.others[0]?.user.id },
    })
  })

  it('are sent in order, at the pace that Telegram recommends', async () => {
    const scene = await m.talking()
    const written = Array.from({ length: 7 }, (_, i) => `Message ${i}`)
    for (const text of written) {
      await write(scene, text)
      m.platform.clock.advance(1)
    }
    for (let i = 0; i < 20 && receivedFromBot(scene).length < written.length; i++) {
      await m.settle()
      m.platform.clock.advance(1_000)
    }
    expect(receivedFromBot(scene).map(({ text }) => text)).toEqual(written)
    const at = sends(scene).map((call) => call.at)
    for (let i = 3; i < at.length; i++) expect((at[i] as number) - (at[i - 3] as number)).toBeGreaterThanOrEqual(1_000)
  })

  it('don’t block further workers, however many are queued in a thread', async () => {
    const scene = await m.talking()
    for (let i = 0; i < 20; i++) {
      await write(scene, `Message ${i}`)
      m.platform.clock.advance(1)
    }
    const waiting = () => m.platform.messages.filter(({ dueAt }) => dueAt > m.platform.clock.now()).length
    const most: number[] = []
    for (let i = 0; i < 30 && receivedFromBot(scene).length < 20; i++) {
      await m.settle()
      most.push(waiting())
      m.platform.clock.advance(1_000)
    }
    expect(receivedFromBot(scene)).toHaveLength(20)
    // One for each concurrent request. The others have left the queue to them.
    expect(Math.max(...most)).toBeLessThan(5)
  })

  it('wait as long as a 429 asks to, without loss or reordering, in every thread of the account', async () => {
    const scene = await m.talking()
    const second = m.newPerson()
    scene.bot.say(second, 'Me too')
    await m.settle()
    const { body } = await m.call(scene.admin, 'GET', '/chats')
    const otherChat = body.items.find(({ title }: { title: string }) => title === second.first_name).id
    scene.bot.fail('sendMessage', { retry_after: 30 })
    await write(scene, 'One')
    m.platform.clock.advance(1)
    await write(scene, 'Two')
    await m.settle()
    await m.call(scene.admin, 'POST', `/chats/${otherChat}/messages`, { text: 'Elsewhere' })
    await m.settle()
    m.platform.clock.advance(29_000)
    await m.settle()
    expect(sends(scene)).toHaveLength(1)
    expect(receivedFromBot(scene)).toEqual([])
    m.platform.clock.advance(2_000)
    await m.settle()
    expect(receivedFromBot(scene).map(({ text }) => text)).toEqual(['One', 'Two'])
    expect(receivedFromBot({ ...scene, contact: second }).map(({ text }) => text)).toEqual(['Elsewhere'])
  })

  it('fail with the Bot API’s error, and the next one is sent', async () => {
    const scene = await m.talking()
    scene.bot.block(scene.contact)
    await write(scene, 'Too late')
    await m.settle()
    expect((await m.messages(scene.admin, scene.chatId)).at(-1)).toMatchObject({
      status: 'failed',
      error: 'Forbidden: bot was blocked by the user',
    })
    scene.bot.block(scene.contact, false)
    m.platform.clock.advance(1_000)
    await write(scene, 'Once more')
    await m.settle()
    expect((await m.messages(scene.admin, scene.chatId)).at(-1)).toMatchObject({ status: 'sent' })
  })

  it('are never sent twice when Telegram’s response was lost', async () => {
    const scene = await m.talking()
    scene.bot.fail('sendMessage', { hang_up: true })
    await write(scene, 'Did it arrive?')
    await m.settle()
    for (let i = 0; i < 3; i++) {
      m.platform.clock.advance(10 * 60_000)
      await m.platform.sweep()
      await m.settle()
    }
    expect(receivedFromBot(scene).map(({ text }) => text)).toEqual(['Did it arrive?'])
    expect((await m.messages(scene.admin, scene.chatId)).at(-1)).toMatchObject({ status: 'unknown' })
    scene.bot.fail('sendMessage', { error_code: 502, description: 'Bad Gateway' })
    await write(scene, 'And this?')
    await m.settle()
    expect((await m.messages(scene.admin, scene.chatId)).at(-1)).toMatchObject({
      status: 'unknown',
      error: 'Bad Gateway',
    })
  })

  it('are not sent again by the worker that follows one that died during the call', async () => {
    const scene = await m.talking()
    const { body } = await write(scene, 'Half-way')
    const key = { thread_id: scene.chatId }
    const { items } = await m.platform.deps.table.query(OutgoingEntity, key, { limit: 1 })
    const until = m.platform.clock.now() + 30_000
    const [outgoing] = items as [(typeof items)[0]]
    await m.platform.deps.table.transact([
      OutgoingEntity.update(outgoing, { set: { state: 'calling', until, due_at: until } }),
    ])
    await m.settle()
    expect(sends(scene)).toEqual([])
    m.platform.clock.advance(90_000)
    await m.platform.sweep()
    await m.settle()
    expect(sends(scene)).toEqual([])
    expect((await m.messages(scene.admin, scene.chatId)).at(-1)).toMatchObject({ id: body.id, status: 'unknown' })
  })

  it('are sent by the sweeper when the message that wakes the worker was lost', async () => {
    const scene = await m.talking()
    await write(scene, 'Forgotten?')
    m.platform.outbox.length = 0
    await m.settle()
    expect(receivedFromBot(scene)).toEqual([])
    m.platform.clock.advance(3 * 60_000)
    await m.platform.sweep()
    await m.settle()
    expect(receivedFromBot(scene).map(({ text }) => text)).toEqual(['Forgotten?'])
  })

  it('are sent once, however many workers are woken concurrently', async () => {
    const scene = await m.talking()
    await write(scene, 'Only once')
    const body = { kind: 'thread', workspace_id: scene.workspaceId, thread_id: scene.chatId }
    await m.platform.deps.queues.send(
      'messenger',
      Array.from({ length: 10 }, () => ({ body })),
    )
    await m.settle()
    expect(receivedFromBot(scene)).toHaveLength(1)
    expect(sends(scene)).toHaveLength(1)
  })

  it('fail when an admin suspends the workspace before they are sent, even in its deletion grace period', async () => {
    const scene = await m.talking('owner')
    const setStatus = async (status: string) => {
      const path = `/admin/workspaces/${scene.workspaceId}/status`
      const headers = { 'x-admin-key': 'local-admin-key' }
      await succeeded(m.platform.call('POST', path, { headers, body: { status, reason: 'Spam' } }))
    }
    const suspendedBeforeSent = async (text: string) => {
      expect((await write(scene, text)).status).toBe(201)
      await setStatus('suspended')
      await m.settle()
      const error = 'The workspace is suspended.'
      expect((await m.messages(scene.admin, scene.chatId)).at(-1)).toMatchObject({ text, status: 'failed', error })
      await setStatus('active')
      m.platform.clock.advance(1_000)
    }
    await suspendedBeforeSent('Never sent')
    await m.platform.call('DELETE', '/console/workspace', { token: scene.others[0]?.token ?? '' })
    await suspendedBeforeSent('Nor this')
    expect(sends(scene)).toEqual([])
  })

  it('are sent in the grace period of the workspace’s deletion, and not after it', async () => {
    const scene = await m.talking('owner')
    const deletion = await m.platform.call('DELETE', '/console/workspace', { token: scene.others[0]?.token ?? '' })
    expect(deletion.status).toBe(204)
    await write(scene, 'People go on')
    await m.settle()
    m.platform.clock.advance(1_000)
    await write(scene, 'Too late')
    const deletes_at = m.platform.clock.now()
    await m.platform.deps.table.transact([WorkspaceEntity.update({ id: scene.workspaceId }, { set: { deletes_at } })])
    await m.settle()
    expect(receivedFromBot(scene).map(({ text }) => text)).toEqual(['People go on'])
    const { conversationId: conversation_id } = scene
    const { items } = await m.platform.deps.table.query(ThreadMessageEntity, { conversation_id }, { limit: 1 })
    expect(items).toMatchObject([{ text: 'Too late', status: 'failed', error: 'The workspace is deleted.' }])
  })

  it('have at most 4096 characters, and are hidden from other workspaces', async () => {
    const [scene, other] = [await m.talking(), await m.talking()]
    expect((await write(scene, '😀'.repeat(4_097))).body.error.code).toBe('validation_error')
    expect((await write(scene, '😀'.repeat(4_096))).status).toBe(201)
    for (const [method, path, body] of [
      ['GET', `/chats/${scene.chatId}`],
      ['GET', `/chats/${scene.chatId}/messages`],
      ['POST', `/chats/${scene.chatId}/messages`, { text: 'x' }],
      ['GET', `/chats?account_id=${scene.account.id}`],
      ['DELETE', `/accounts/${scene.account.id}`],
    ] as const) {
      expect((await m.call(other.admin, method, path, body)).status).toBe(404)
    }
  })
})

describe('a personal account’s threads', () => {
  const chatting = async (options: Parameters<typeof m.personal>[0] = {}) => {
    const scene = await m.personal(options)
    const contact = m.newPerson()
    const { message } = m.telegram.business.say(scene.connection.id, contact, 'Hi Ada')
    await m.settle()
    const { body } = await m.call(scene.person, 'GET', '/chats')
    return { ...scene, contact, message, admin: scene.person, chatId: body.items[0].id as string, chat: body.items[0] }
  }

  it('contain both sides, including messages written in Telegram, and replies are sent in the owner’s name', async () => {
    const scene = await chatting()
    const { business } = m.telegram
    const inChat = () => business.chat(scene.connection.id, scene.contact)
    m.platform.clock.advance(2_000)
    business.say(scene.connection.id, scene.contact, 'Written by Ada', { own: true })
    await m.settle()
    m.platform.clock.advance(2_000)
    expect((await write(scene, 'By the platform')).status).toBe(201)
    await m.settle()
    expect(inChat().map(({ text, from }) => [text, from.id])).toEqual([
      ['Hi Ada', scene.contact.id],
      ['Written by Ada', scene.self.id],
      ['By the platform', scene.self.id],
    ])
    const list = await m.messages(scene.person, scene.chatId)
    expect(list.map((one: Record<string, unknown>) => [one.text, one.direction, one.status])).toEqual([
      ['Hi Ada', 'in', 'received'],
      ['Written by Ada', 'out', 'sent'],
      ['By the platform', 'out', 'sent'],
    ])
  })

  it('follow edits and deletions, even when a deletion arrives first, without duplicates', async () => {
    const scene = await chatting()
    const { business } = m.telegram
    m.platform.clock.advance(2_000)
    const edit = business.edit(scene.connection.id, scene.contact, scene.message, 'Hi Ada!')
    await m.settle()
    expect(await texts(scene)).toEqual(['Hi Ada!'])
    m.platform.clock.advance(2_000)
    const next = business.say(scene.connection.id, scene.contact, 'Gone soon')
    business.remove(scene.connection.id, scene.contact, [scene.message.message_id, 123_456])
    await m.settle()
    const [first, second] = await m.messages(scene.person, scene.chatId)
    expect(first).toMatchObject({ text: '[deleted]', deleted_at: expect.any(String) })
    expect(second).toMatchObject({ text: 'Gone soon', deleted_at: null })
    const before = await m.messages(scene.person, scene.chatId)
    await m.telegram.redeliver(edit)
    await m.telegram.redeliver(next.updateId)
    await m.settle()
    expect(await m.messages(scene.person, scene.chatId)).toEqual(before)
    // 123456 was deleted before it arrived.
    const update = {
      business_message: {
        ...next.message,
        message_id: 123_456,
        text: 'Late',
        business_connection_id: scene.connection.id,
      },
    }
    await m.arrive(update)
    expect(await m.messages(scene.person, scene.chatId)).toEqual(before)
  })

  it('are not stored for a connected person without an account here', async () => {
    const { connection } = m.telegram.business.connect(m.newPerson())
    m.telegram.business.say(connection.id, m.newPerson(), 'No word of this')
    await m.settle()
    expect([...(await contents(m.platform)).values()].join('\n')).not.toContain('No word of this')
  })

  it('can’t be replied to without the permission, or 24 hours after the last incoming message', async () => {
    const scene = await chatting()
    expect(scene.chat.reply_until).toBeTruthy()
    m.telegram.business.change(scene.connection.id, { canReply: false })
    await m.settle()
    const refused = await write(scene, 'x')
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect(refused.body.error.message).toContain('doesn’t allow the bot to reply')
    m.telegram.business.change(scene.connection.id, { canReply: true })
    await m.settle()
    m.platform.clock.advance(10 * 3_600_000)
    expect((await write(scene, 'In time')).status).toBe(201)
    await m.settle()
    expect((await m.messages(scene.person, scene.chatId)).at(-1)).toMatchObject({ status: 'sent' })
    m.platform.clock.advance(1.9 * 3_600_000)
    m.telegram.business.change(scene.connection.id, { canReply: false })
    expect((await write(scene, 'Overtaken by the right’s end')).status).toBe(201)
    await m.settle()
    expect((await m.messages(scene.person, scene.chatId)).at(-1)).toMatchObject({ status: 'failed' })
  })
})
