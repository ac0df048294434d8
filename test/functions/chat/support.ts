import { setTimeout as pause } from 'node:timers/promises'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
import { issueToken } from '#shared/domain/tokens/tokens.ts'
import { ChatEntity } from '#shared/entities/conversations.ts'
import { createAgents } from '#test/functions/workspace/agents-support.ts'
import { member } from '#test/support/fixtures.ts'
import type { TestPlatform } from '#test/support/platform.ts'
import { using } from '#test/support/using.ts'

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
  session: { id: string; workspace_id: string }
}

/** What a person does in their chats. */
export const chatter = (platform: TestPlatform, { user, session }: Signed) => {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    // A token of now: the tests let time go by.
    const claims = { ses: session.id, usr: user.id, ws: session.workspace_id }
    const { token } = await issueToken(platform.deps, 'console', claims)
    return platform.call(method, path, { token, headers, ...(body !== undefined && { body }) })
  }
  const list = async (query = '') => {
    const { status, body, text } = await call('GET', `/console/conversations${query}`)
    if (status !== 200) throw new Error(text)
    return body.items as {
      id: string
      kind: string
      title: string
      answered_by: { type: string; name: string } | null
    }[]
  }
  const messages = async (id: string): Promise<SeenMessage[]> => {
    const { status, body, text } = await call('GET', `/console/conversations/${id}/messages?limit=100`)
    if (status !== 200) throw new Error(text)
    return [...body.items].reverse()
  }
  return {
    user,
    call,
    list,
    messages,
    /** Who said what, oldest first. */
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

export type Chatter = ReturnType<typeof chatter>

/** Another person of a workspace. */
export const joined = async (
  platform: TestPlatform,
  workspaceId: string,
  role: 'member' | 'admin' | 'owner' = 'member',
) => chatter(platform, await member(platform.deps, workspaceId, role))

/** Agents that repeat what they were told, and the owner of their workspace. */
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
    /** An agent and a person who may talk with it. */
    pair: async (name = 'agent') => {
      const agent = await agents.agent(echo(name))
      return { agent, ann: chatter(platform, agent.person) }
    },
    /** Lets the workers go on, also while some of them wait for others. */
    settle: () => settled(platform),
    /** Lets time pass and the sweep run until a chat has nothing open any more. */
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

/** The same for the tests of a file. */
export const usingChats = (platform: TestPlatform) =>
  using(
    () => createChats(platform),
    (chats) => chats.close(),
  )

/** Until nothing moves any more and no worker is at anything, also while some of them wait for what others do. */
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

/** As deployed without a key. */
export const noModelConfigured = (platform: TestPlatform): void => {
  platform.deps.model = createLanguageModel({ key: async () => undefined, apiUrl: undefined, name: undefined })
}
