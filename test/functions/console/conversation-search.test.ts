import { beforeEach, describe, expect, it } from 'vitest'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { MessageEntity } from '#shared/work/conversations/entity.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { addMember, type ConversationClient, usingConversations } from './conversations-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

beforeEach(() => platform.clock.advance(60_000))

const q = (text: string) => `q=${encodeURIComponent(text)}`

const searched = async (who: ConversationClient, id: string, query: string) =>
  (await who.call('GET', `/console/conversations/${id}/messages?${query}`)).body

const texts = ({ items }: { items: { text: string }[] }) => items.map(({ text }) => text)

const found = async (who: ConversationClient, text: string) =>
  (await who.call('GET', `/console/conversations?${q(text)}`)).body.items as {
    id: string
    match: { message_id: string; text: string } | null
  }[]

/** Stores older messages of a conversation. */
const storeMessages = async (
  workspace_id: string,
  conversation_id: string,
  count: number,
  text: (i: number) => string,
) => {
  const now = platform.clock.now() - 10_000_000
  const writes = Array.from({ length: count }, (_, i) =>
    MessageEntity.create({
      ...stampOf(newId('message', now + i)),
      conversation_id,
      workspace_id,
      author: { type: 'agent', id: 'ins_1', name: 'Stock' },
      text: text(i),
      attachments: [],
    }),
  )
  for (let i = 0; i < count; i += 100) await platform.deps.table.transact(writes.slice(i, i + 100))
}

describe('the search in a conversation', () => {
  it('finds messages by words of their text, author and files, without regard to case and accents', async () => {
    const { agent, ann } = await chats.pair('Stock')
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'Where is the Kühlschrank?')
    await chats.settle()
    expect(texts(await searched(ann, chat, q('KUHLSCHRANK')))).toEqual([
      'Stock heard Where is the Kühlschrank?',
      'Where is the Kühlschrank?',
    ])
    expect(texts(await searched(ann, chat, q('kühl stock')))).toEqual(['Stock heard Where is the Kühlschrank?'])
    expect(texts(await searched(ann, chat, q('Ofen')))).toEqual([])
  })

  it('looks through at most 2,000 messages for one page, and finds the oldest with the next', async () => {
    const { agent, ann } = await chats.pair('Stock')
    const chat = await ann.open(agent.installation.id)
    await storeMessages(agent.workspaceId, chat, 2_100, (i) => (i === 0 ? 'the needle' : 'hay'))
    const page = await searched(ann, chat, q('needle'))
    expect([texts(page), page.has_more]).toEqual([[], true])
    const next = await searched(ann, chat, `${q('needle')}&cursor=${encodeURIComponent(page.next_cursor)}`)
    expect([texts(next), next.has_more]).toEqual([['the needle'], false])
  })

  it('finds each message once over pages', async () => {
    const { agent, ann } = await chats.pair('Stock')
    const chat = await ann.open(agent.installation.id)
    await storeMessages(agent.workspaceId, chat, 45, (i) => `hay ${i}`)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = await searched(ann, chat, `${q('hay')}&limit=10${cursor}`)
      seen.push(...texts(page))
      if (!page.has_more) break
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    expect(seen).toEqual(Array.from({ length: 45 }, (_, i) => `hay ${44 - i}`))
  })
})

describe('the search over conversations', () => {
  it('lists the person’s own conversations and those of tasks, with the latest match of each', async () => {
    const { agent, ann } = await chats.pair('Stock')
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'Order   paper\nfor the printer')
    await chats.settle()
    const task = (await ann.call('POST', '/console/tasks', { title: 'Count' })).body
    await ann.call('POST', `/console/tasks/${task.id}/messages`, { text: 'Also the printer ink.' })
    const items = await found(ann, 'printer')
    expect(items.map(({ id, match }) => [id, match?.text])).toEqual([
      [chat, 'Stock heard Order paper for the printer'],
      [task.conversation_id, 'Also the printer ink.'],
    ])
    expect((await ann.call('GET', '/console/conversations')).body.items[0].match).toBeNull()
  })

  it('never finds another person’s private conversation, not even for an owner or through its id', async () => {
    const { agent, ann } = await chats.pair('Stock')
    const chat = await ann.open(agent.installation.id)
    const main = await ann.main()
    await ann.say(chat, 'My salary is 4711.')
    await ann.say(main, 'My salary is 4711.')
    await chats.settle()
    const owner = await addMember(platform, agent.workspaceId, 'owner')
    await owner.open(agent.installation.id)
    const stranger = (await chats.pair('Other')).ann
    for (const other of [owner, stranger]) {
      expect(await found(other, 'salary')).toEqual([])
      for (const id of [chat, main]) {
        const answer = await other.call('GET', `/console/conversations/${id}/messages?${q('salary')}`)
        expect([answer.status, answer.text.includes('4711')]).toEqual([404, false])
      }
    }
    expect((await found(ann, 'salary')).map(({ id }) => id)).toEqual([main, chat])
  })

  it('takes a cursor of the same person and search only', async () => {
    const { agent, ann } = await chats.pair('Stock')
    const chat = await ann.open(agent.installation.id)
    await storeMessages(agent.workspaceId, chat, 3, () => 'hay')
    const { next_cursor } = await searched(ann, chat, `${q('hay')}&limit=1`)
    const owner = await addMember(platform, agent.workspaceId, 'owner')
    const at = `cursor=${encodeURIComponent(next_cursor)}&limit=1`
    for (const [who, query] of [
      [ann, `${q('needle')}&${at}`],
      [ann, at],
      [owner, `${q('hay')}&${at}`],
    ] as const) {
      const { status } = await who.call('GET', `/console/conversations/${chat}/messages?${query}`)
      expect([400, 404]).toContain(status)
    }
  })
})
