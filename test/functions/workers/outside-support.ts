import { pinAgentCard } from '#shared/catalogue/agent-cards/index.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import { type Answer, json, type Received, type Receiver } from '#testkit/receiver.ts'

/** Returns the card of an agent at this address. */
export const cardAt = (url: string, fields: Record<string, unknown> = {}) => ({
  name: 'Outside agent',
  description: 'An agent of the tests.',
  version: '1.0.0',
  supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'look', name: 'Look', description: 'Looks it up.', tags: ['look'] }],
  ...fields,
})

export interface Call {
  method: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read parameters of every shape
  params: any
  headers: Received['headers']
}

/** Makes the receiver serve a card, and answer each call of its JSON-RPC interface with a result, or as given. */
export const serve = (
  receiver: Receiver,
  behave: (call: Call) => Answer | { result: unknown },
  card: () => unknown = () => cardAt(receiver.url),
): Call[] => {
  const calls: Call[] = []
  receiver.answer(({ path, body, headers }) => {
    if (path === '/card.json') return json(card())
    const { id, method, params } = JSON.parse(body.toString())
    const call = { method, params, headers }
    calls.push(call)
    const answer = behave(call)
    return 'kind' in answer ? answer : json({ jsonrpc: '2.0', id, ...answer })
  })
  return calls
}

/** Returns a task in this state, with the text of its status. */
export const task = (state: string, text?: string, more: Record<string, unknown> = {}) => ({
  id: 'task-1',
  contextId: 'context-1',
  status: {
    state: `TASK_STATE_${state}`,
    timestamp: '2026-11-21T10:15:30.000Z',
    ...(text !== undefined && { message: { messageId: `m-${text}`, role: 'ROLE_AGENT', parts: [{ text }] } }),
  },
  ...more,
})

interface OutsideOptions {
  runtime?: Record<string, unknown>
  config?: unknown
  cardPath?: string
  /** Names of tools that other agents may call. */
  tools?: string[]
  workspaceId?: string
}

/** Installs an agent whose version keeps the card that the address serves. */
export const installOutside = async (
  { deps }: TestPlatform,
  url: string,
  { runtime = {}, config, cardPath = '/card.json', tools = [], workspaceId }: OutsideOptions = {},
) => {
  const app = await installed(deps, { ...(workspaceId !== undefined && { workspaceId }) })
  const card = await pinAgentCard(deps, `${url}${cardPath}`)
  if ('fix' in card) throw new Error(card.message)
  const manifest = {
    id: app.version.agent_id,
    version: '1.0.0',
    name: 'Outside',
    summary: 'An agent of the tests.',
    runtime: { type: 'a2a', card_url: `${url}${cardPath}`, ...runtime },
    ...(config !== undefined && { config }),
    tools: tools.map((name) => ({ name, description: 'Looks it up.', input_schema: { type: 'object' } })),
  }
  const set = {
    runtime_type: 'a2a' as const,
    endpoint: undefined,
    resume: true,
    card,
    manifest: { json: JSON.stringify(manifest) },
  }
  await deps.table.transact([VersionEntity.update(app.version, { set })])
  return app
}
