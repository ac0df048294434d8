import { describe, expect, it } from 'vitest'
import { newId } from '#shared/kernel/ids.ts'
import { ChatEntity } from '#shared/work/answering/entity.ts'
import { dieAtEach } from '#test/faults/die-at-each.ts'
import { ACCEPT } from '#test/functions/api/agents-support.ts'
import { activeRuns, callbackToken } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { addMember, type ConversationClient, usingConversations } from './conversations-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

const answersOf = async (person: ConversationClient, chat: string) =>
  (await person.messages(chat)).filter(({ author }) => author.type !== 'user').map(({ text }) => text)

const texts = (n: number) => Array.from({ length: n }, (_, i) => `message ${i}`)

describe('messages sent while another one is answered', () => {
  it('are queued and answered once each, in order', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    const runIds: (string | null)[] = []
    for (const text of texts(4)) {
      runIds.push((await ann.say(chat, text)).body.run_id)
      platform.clock.advance(5)
    }
    expect(runIds.map((id) => id === null)).toEqual([false, true, true, true])
    await chats.settle()
    expect(await answersOf(ann, chat)).toEqual(texts(4).map((text) => `Ada heard ${text}`))
    const asked = (await ann.messages(chat)).filter(({ author }) => author.type === 'user')
    expect(new Set(asked.map(({ run_id }) => run_id)).size).toBe(4)
    // The agent received the answers so far, and no queued messages.
    const [, second] = chats.received.slice(-4)
    const context = second.conversation.messages.map(({ text }: { text: string }) => text)
    expect(context).toContain('Ada heard message 0')
    expect(context).not.toContain('message 2')
    expect(second.conversation.message.text).toBe('message 1')
  })

  it('are sent to their agent with the preceding messages, however many are queued behind them', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    const before = chats.received.length
    // More messages than an agent receives, so queued ones could displace the previous ones.
    const all = texts(55)
    for (const text of all) {
      expect((await ann.say(chat, text)).status).toBe(201)
      // A person may write ten messages per second.
      platform.clock.advance(110)
    }
    await chats.settle()
    const requests = chats.received.slice(before)
    expect(requests.map(({ conversation }) => conversation.message?.text)).toEqual(all)
    const contextOf = (n: number) => requests[n].conversation.messages.map(({ text }: { text: string }) => text)
    expect(contextOf(1)).toEqual(['message 0', 'message 1', 'Ada heard message 0'])
    expect(contextOf(54)).toContain('Ada heard message 53')
    expect(contextOf(54)).toContain('message 54')
    expect(contextOf(54)).toHaveLength(50)
  })

  it('are answered one run at a time when one person sends ten concurrently', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    const answers = await Promise.all(texts(10).map((text) => ann.say(chat, text)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
    expect(await chats.activeRuns(agent)).toBe(1)
    await chats.settle()
    expect((await answersOf(ann, chat)).sort()).toEqual(texts(10).map((text) => `Ada heard ${text}`))
    expect(await chats.runsOf(agent)).toHaveLength(10)
    expect(await platform.deps.table.get(ChatEntity, { conversation_id: chat })).toMatchObject({ waiting: 0 })
    expect((await platform.deps.table.get(ChatEntity, { conversation_id: chat }))?.due_at).toBeUndefined()
  })

  it('are all answered, each in private, when five people send ten each concurrently', async () => {
    const { agent } = await chats.pair('Ada')
    const people = await Promise.all(Array.from({ length: 5 }, () => addMember(platform, agent.workspaceId)))
    const rooms = await Promise.all(people.map((person) => person.open(agent.installation.id)))
    expect(new Set(rooms).size).toBe(5)
    const sent = await Promise.all(
      people.flatMap((person, i) => texts(10).map((text) => person.say(rooms[i] as string, `${i}: ${text}`))),
    )
    expect(sent.every(({ status }) => status === 201)).toBe(true)
    expect(await chats.activeRuns(agent)).toBe(5)
    await chats.settle()
    for (const [i, person] of people.entries()) {
      const answers = (await answersOf(person, rooms[i] as string)).sort()
      expect(answers).toEqual(texts(10).map((text) => `Ada heard ${i}: ${text}`))
    }
    expect(await chats.activeRuns(agent)).toBe(0)
  })
})

describe('a message to an agent with five active runs', () => {
  const busy = async () => {
    const { agent, ann } = await chats.pair('Ada')
    const runs = []
    for (let i = 0; i < 5; i++) runs.push(await chats.running(agent))
    agent.behaves(chats.echo('Ada').behaviour)
    return { agent, ann, chat: await ann.open(agent.installation.id), runs }
  }

  it('is queued and answered as soon as a slot is free', async () => {
    const { ann, chat, runs } = await busy()
    const { status, body } = await ann.say(chat, 'Any time?')
    expect([status, body.run_id]).toEqual([201, null])
    platform.clock.advance(5)
    expect((await ann.say(chat, 'Hello?')).status).toBe(201)
    await chats.settle()
    expect(await answersOf(ann, chat)).toEqual([])
    const [first] = runs
    await platform.call('POST', `/api/v1/runs/${first?.run.id}/complete`, {
      token: first?.token as string,
      body: { status: 'succeeded' },
    })
    platform.clock.advance(5_000)
    await chats.settle()
    expect(await answersOf(ann, chat)).toEqual(['Ada heard Any time?', 'Ada heard Hello?'])
  })

  it('is answered by the sweeper when its wake-up was lost', async () => {
    const { ann, chat, runs } = await busy()
    await ann.say(chat, 'Any time?')
    platform.outbox.length = 0
    platform.messages.length = 0
    const [first] = runs
    await platform.call('POST', `/api/v1/runs/${first?.run.id}/complete`, {
      token: first?.token as string,
      body: { status: 'succeeded' },
    })
    platform.clock.advance(61_000)
    await platform.sweep()
    await chats.settle()
    expect(await answersOf(ann, chat)).toEqual(['Ada heard Any time?'])
  })

  it('is given up after 15 minutes, and the conversation says so', async () => {
    const { ann, chat } = await busy()
    await ann.say(chat, 'Any time?')
    await chats.settle()
    platform.clock.advance(16 * 60_000)
    await chats.settle()
    expect((await ann.messages(chat)).at(-1)).toMatchObject({
      error_code: 'too_many_active_runs',
      author: { type: 'agent' },
    })
    expect((await platform.deps.table.get(ChatEntity, { conversation_id: chat }))?.due_at).toBeUndefined()
  })
})

describe('an answer is posted once', () => {
  it('however often the queue delivers each message', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'One.')
    await ann.say(chat, 'Two.')
    const all: Parameters<typeof platform.deliver>[0][] = []
    for (let round = 0; round < 12; round++) {
      await platform.deps.bus.put(platform.outbox.splice(0))
      const due = platform.messages.splice(0)
      all.push(...due)
      await Promise.all([...due, ...due].map((message) => platform.deliver(message)))
    }
    for (const message of all) await platform.deliver(message)
    await chats.settle()
    expect((await answersOf(ann, chat)).sort()).toEqual(['Ada heard One.', 'Ada heard Two.'])
    expect(await chats.runsOf(agent)).toHaveLength(2)
  })

  it('for messages with the same Idempotency-Key, which start one run', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    const key = newId('request', platform.clock.now())
    const first = await ann.say(chat, 'Once.', { key })
    expect((await ann.say(chat, 'Once.', { key })).text).toBe(first.text)
    await chats.settle()
    expect(await ann.said(chat)).toEqual(['user: Once.', 'agent: Ada heard Once.'])
  })

  it('wherever a worker crashes, unless the run says why there is none', async () => {
    await dieAtEach(platform, { limit: 60, counted: 'effects', least: 11 }, async (n, dying) => {
      platform.clock.advance(7_200_000)
      const { agent, ann } = await chats.pair('Ada')
      const chat = await ann.open(agent.installation.id)
      await ann.say(chat, 'One.')
      platform.clock.advance(5)
      await ann.say(chat, 'Two.')
      await dying(() => chats.deliverAll())
      await chats.recovered(chat)
      const answers = await answersOf(ann, chat)
      expect(answers, `died after effect ${n}`).toHaveLength(2)
      for (const answer of answers) expect(answer).toMatch(/^Ada heard|agent_unreachable/)
      expect(answers.at(-1)).toMatch(/^Ada heard Two\.|agent_unreachable/)
      expect(await activeRuns(platform.deps, agent)).toBe(0)
    })
  })
})

it('a cancelled run posts that to its conversation, and the next message is answered', async () => {
  const { agent, ann } = await chats.pair('Ada')
  const chat = await ann.open(agent.installation.id)
  agent.behaves(() => ACCEPT)
  const { run_id } = (await ann.say(chat, 'Work.')).body
  await chats.settle()
  platform.clock.advance(5)
  await ann.say(chat, 'Never mind.')
  agent.behaves(chats.echo('Ada').behaviour)
  const token = await callbackToken(platform.deps, agent, run_id)
  await platform.call('POST', `/api/v1/runs/${run_id}/cancel`, { token })
  await chats.settle()
  expect((await ann.messages(chat)).slice(-2)).toMatchObject([
    { error_code: 'run_cancelled', run_id },
    { text: 'Ada heard Never mind.' },
  ])
})
