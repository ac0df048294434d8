import { setTimeout as pause } from 'node:timers/promises'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { ChatEntity } from '#shared/work/answering/entity.ts'
import { createAgents } from '#test/functions/api/agents-support.ts'
import { member } from '#testkit/fixtures.ts'
import { succeeded, type TestPlatform } from '#testkit/platform.ts'
import { using } from '#testkit/using.ts'

export interface SeenMessage {
  id: string
  author: { type: string; id: string; name: string }
  text: string
  attachments: { file_id: string; name: string }[]
  run_id: string | null
  error_code: string | null
  approval: { step_id: string; tool: string } | null
}

interface Signed {
  user: { id: string; name: string }
  session: { id: string; workspace_id: string; created_at: number }
}

/** Returns functions for a person's conversations in the console. */
export const conversationsOf = (platform: TestPlatform, { user, session }: Signed) => {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    // Issued for each call, since the tests let time pass.
    const claims = { ses: session.id, usr: user.id, ws: session.workspace_id, mem: session.created_at }
    const { token } = await issueToken(platform.deps, 'console', claims)
    return platform.call(method, path, { token, headers, body })
  }
  const list = async (query = '') => {
    const { items } = await succeeded(call('GET', `/console/conversations${query}`))
    return items as {
      id: string
      kind: string
      title: string
      answered_by: { type: string; name: string } | null
    }[]
  }
  const messages = async (id: string): Promise<SeenMessage[]> => {
    const { items } = await succeeded(call('GET', `/console/conversations/${id}/messages?limit=100`))
    return items.reverse()
  }
  return {
    user,
    call,
    list,
    messages,
    /** Lists author types and texts, oldest first. */
    said: async (id: string) => (await messages(id)).map(({ author, text }) => `${author.type}: ${text}`),
    main: async () => (await list('?kind=main'))[0]?.id as string,
    open: async (installation_id: string) =>
      (await call('POST', '/console/conversations', { installation_id })).body.id as string,
    say: (id: string, text: string, more: { attachments?: string[]; key?: string } = {}) => {
      const { key, ...rest } = more
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
      return call('POST', `/console/conversations/${id}/messages`, { text, ...rest }, headers)
    },
    primary: (installation_id: string | null) => call('PUT', '/console/settings/primary-agent', { installation_id }),
  }
}

export type ConversationClient = ReturnType<typeof conversationsOf>

/** Adds another member to a workspace. */
export const addMember = async (
  platform: TestPlatform,
  workspaceId: string,
  role: 'member' | 'admin' | 'owner' = 'member',
) => conversationsOf(platform, await member(platform.deps, workspaceId, role))

/** Starts agents that echo their messages, in a workspace with an owner. */
const createChats = async (platform: TestPlatform) => {
  const agents = await createAgents(platform)
  const echo = (name: string) => ({
    behaviour: (execute: { run: { input: { text: string } } }) => ({
      status: 'succeeded',
      output: { text: `${name} heard ${execute.run.input.text}` },
    }),
  })
  return {
    ...agents,
    echo,
    /** Creates an agent and a person who can write to it. */
    pair: async (name = 'agent') => {
      const agent = await agents.agent(echo(name))
      return { agent, ann: conversationsOf(platform, agent.person) }
    },
    /** Runs the workers until everything is handled, even while some wait for others. */
    settle: () => settled(platform),
    /** Delivers every message once, and those that follow from them. What fails isn't delivered again. */
    deliverAll: async () => {
      for (let round = 0; round < 12; round++) {
        await platform.deps.bus.put(platform.outbox.splice(0)).catch(() => undefined)
        for (const message of platform.messages.splice(0)) await platform.deliver(message)
      }
    },
    /** Advances the clock and runs the sweeper until a conversation has no pending work. */
    recovered: async (conversation_id: string) => {
      for (let i = 0; i < 15; i++) {
        await settled(platform)
        const chat = await platform.deps.table.get(ChatEntity, { conversation_id })
        if (chat && chat.due_at === undefined) return
        platform.clock.advance(61_000)
        await platform.sweep()
      }
    },
  }
}

/** Starts conversations for the tests of a file. */
export const usingConversations = (platform: TestPlatform) =>
  using(
    () => createChats(platform),
    (chats) => chats.close(),
  )

/** Runs the workers until there is no pending work, even while some wait for others. */
const settled = async (platform: TestPlatform): Promise<void> => {
  const under = new Set<Promise<void>>()
  const failures: unknown[] = []
  const pending = () =>
    platform.outbox.length > 0 || platform.messages.some(({ dueAt }) => dueAt <= platform.clock.now())
  do {
    const drained: Promise<void> = platform
      .drain()
      .catch((error) => void failures.push(error))
      .finally(() => under.delete(drained))
    under.add(drained)
    await Promise.race([Promise.all(under), pause(15)])
    if (failures.length > 0) throw failures[0]
  } while (under.size > 0 || pending())
}

/** Removes the language model's key, as in a deployment without one. */
export const removeModelKey = (platform: TestPlatform): void => {
  platform.deps.model = createLanguageModel({ key: async () => undefined, apiUrl: undefined, name: undefined })
}
