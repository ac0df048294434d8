import { beforeAll, describe, expect, it } from 'vitest'
import { ACCEPT } from '#test/functions/api/agents-support.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { addMember, type ConversationClient, usingConversations } from './conversations-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

/** Appears in all of Ann’s private data, and in nothing else. */
const SECRET = 'salary'

/**
 * Creates Ann, an owner, who writes to an agent in its conversation and in the main one. The agent answers, notifies her and
 * emits an event. It also has a task, a run of its own and a notification to everyone.
 */
const talked = async () => {
  const { agent, ann } = await chats.pair()
  const { installation, token: access, workspaceId } = agent
  const bob = await addMember(platform, workspaceId)
  const sendMessage = async (conversation: string) => {
    const { run_id } = await succeeded(ann.say(conversation, `About my ${SECRET}.`))
    await chats.settle()
    return run_id as string
  }
  const chat = await ann.open(installation.id)
  const answered = await sendMessage(chat)
  await succeeded(ann.primary(installation.id))
  const main = await ann.main()
  agent.behaves(() => ACCEPT)
  const open = await sendMessage(main)
  const callback = await callbackToken(platform.deps, agent, open)
  const invoke = (token: string, tool: string, args: object) => succeeded(chats.invoke(token, tool, args))
  await invoke(callback, 'emit_event', { type: 'asked', data: { about: SECRET } })
  await invoke(callback, 'ask_user', { question: `Which ${SECRET}?` })
  await invoke(access, 'notify_user', { title: 'Psst', body: SECRET, user_id: ann.user.id })
  await succeeded(
    platform.call('POST', `/api/v1/runs/${open}/complete`, {
      token: callback,
      body: { status: 'succeeded', output: { text: SECRET } },
    }),
  )
  await chats.settle()
  agent.behaves(() => ({ status: 'succeeded' }))
  // Her conversation’s run has ended, so the notification isn’t private.
  await invoke(access, 'notify_user', { title: 'Hello', body: 'all' })
  const shared = (await succeeded(platform.call('POST', '/api/v1/runs', { token: access, body: {} }))).id as string
  const task = await succeeded(ann.call('POST', '/console/tasks', { title: 'Count', installation_id: installation.id }))
  await succeeded(ann.call('POST', `/console/tasks/${task.id}/messages`, { text: 'All of them.' }))
  await chats.settle()
  const surface = async (person: ConversationClient) =>
    (await succeeded(person.call('POST', `/console/installations/${installation.id}/surface-token`))).token as string
  return {
    chat,
    main,
    answered,
    open,
    shared,
    task: task as { id: string; conversation_id: string },
    tokens: { access, callback, ann: await surface(ann), bob: await surface(bob) },
  }
}

let scene: Awaited<ReturnType<typeof talked>>
beforeAll(async () => {
  scene = await talked()
})

const get = (who: keyof typeof scene.tokens, path: string) => {
  // All of them share the installation's rate limit.
  platform.clock.advance(200)
  return platform.call('GET', `/api/v1${path}`, { token: scene.tokens[who] })
}

/** Reads all pages of a list. */
const all = async (who: keyof typeof scene.tokens, path: string, limit = 100) => {
  // biome-ignore lint/suspicious/noExplicitAny: lists of every kind
  const items: any[] = []
  let cursor = ''
  do {
    const body = await succeeded(get(who, `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`))
    items.push(...body.items)
    cursor = body.has_more ? `&cursor=${encodeURIComponent(body.next_cursor)}` : ''
  } while (cursor !== '')
  return items
}
const ids = (items: { id: string }[]) => items.map(({ id }) => id).sort()

/** Ann’s conversations, each with the run that answers in it. */
const SECRETS = [
  { conversation: () => scene.chat, run: () => scene.answered },
  { conversation: () => scene.main, run: () => scene.open },
]

describe('a person’s private data', () => {
  it('is omitted from lists for another person’s surface token, on any page', async () => {
    const { chat, main, answered, open, task } = scene
    for (const limit of [1, 100]) {
      expect(ids(await all('bob', '/conversations', limit))).toEqual([task.conversation_id])
      for (const path of ['/runs', '/runs?status=succeeded']) {
        const seen = ids(await all('bob', path, limit))
        expect(seen).toContain(scene.shared)
        for (const own of [answered, open]) expect(seen).not.toContain(own)
      }
    }
    expect(ids(await all('ann', '/conversations'))).toEqual([chat, main, task.conversation_id].sort())
    for (const path of ['/runs', '/runs?status=succeeded']) {
      expect(ids(await all('ann', path))).toEqual(expect.arrayContaining([answered, open, scene.shared]))
    }
  })

  it('is not_found for that token: conversations with their messages, runs and their streams', async () => {
    for (const { conversation, run } of SECRETS) {
      for (const path of [`/conversations/${conversation()}/messages`, `/runs/${run()}`, `/runs/${run()}/stream`]) {
        const { status, body } = await get('bob', path)
        expect([status, body.error.code], path).toEqual([404, 'not_found'])
        const own = await get('ann', path)
        expect([own.status, own.text.includes(SECRET)], path).toEqual([200, true])
      }
    }
    const { task, shared } = scene
    for (const path of [
      `/conversations/${task.conversation_id}/messages`,
      `/runs/${shared}`,
      `/runs/${shared}/stream`,
    ]) {
      expect((await get('bob', path)).status, path).toBe(200)
    }
  })

  it('is omitted from the events that it polls, which skip no others and end', async () => {
    const everything = await all('access', '/events')
    const { answered, open } = scene
    const own = everything.filter(({ type, data }) => {
      if (type.startsWith('run.')) return [answered, open].includes(data.run_id)
      return data.conversation_id === undefined
        ? JSON.stringify(data).includes(SECRET)
        : [scene.chat, scene.main].includes(data.conversation_id)
    })
    const types = new Set(own.map(({ type }) => type))
    expect([...types].sort()).toEqual([
      'custom.asked',
      'message.created',
      'notification.created',
      'run.created',
      'run.input_required',
      'run.succeeded',
    ])
    const others = everything.filter((event) => !own.includes(event))
    for (const limit of [1, 3, 100]) expect(await all('bob', '/events', limit), `by ${limit}`).toEqual(others)
    const since = `/events?since=${everything[0].id}&types=run.*,message.*`
    const expectedEvents = others.filter(({ type }) => /^(run|message)\./.test(type))
    expect(await all('bob', since, 2)).toEqual(expectedEvents)
    expect(expectedEvents.map(({ type }) => type)).toEqual(expect.arrayContaining(['run.succeeded', 'message.created']))
    expect(await all('ann', '/events')).toEqual(everything)
  })

  it('remains visible to the app’s access and callback tokens, in envelopes that don’t name the person', async () => {
    const { chat, main, answered, open, shared, task } = scene
    for (const who of ['access', 'callback'] as const) {
      expect(ids(await all(who, '/conversations'))).toEqual([chat, main, task.conversation_id].sort())
      expect(ids(await all(who, '/runs'))).toEqual(expect.arrayContaining([answered, open, shared]))
      const events = await all(who, '/events')
      expect(JSON.stringify(events)).toContain(SECRET)
      expect(JSON.stringify(events)).not.toContain('private_to')
    }
    for (const path of [`/conversations/${chat}/messages`, `/runs/${answered}`, `/runs/${answered}/stream`]) {
      expect((await get('access', path)).status, path).toBe(200)
    }
  })
})
