import { randomUUID } from 'node:crypto'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import type { Behaviour, createAgents } from '../api/agents-support.ts'

type Agents = Awaited<ReturnType<typeof createAgents>>
type Json = Record<string, unknown>

/** A message that calls the tool `look`. */
export const look = (args: Json = {}, more: Json = {}) => ({
  message: {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ data: { skill: 'look', arguments: args } }],
    ...more,
  },
})

export const saying = (text: string, more: Json = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
})

/** Installs a caller and an agent with the tool `look` that also takes any message. */
export const conversation = async (platform: TestPlatform, agents: Agents, behaviour: Behaviour) => {
  platform.clock.advance(60_000)
  const [caller, target] = await agents.team({}, { behaviour })
  const manifest = {
    id: target.version.agent_id,
    version: '1.0.0',
    name: 'Agent',
    runtime: { type: 'webhook', endpoint: 'https://agent.example/run', resume: true },
    tools: [
      { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { n: { type: 'number' } } } },
    ],
    a2a: { messages: true },
  }
  const set = { manifest: { json: JSON.stringify(manifest) }, resume: true }
  await platform.deps.table.transact([VersionEntity.update(target.version, { set })])
  const at = `/a2a/agents/${target.installation.id}`
  let id = 0
  const rpc = (method: string, params: Json, { token = caller.token, headers = {}, path = '/rpc' } = {}) =>
    platform.call('POST', at + path, {
      token,
      body: { jsonrpc: '2.0', id: ++id, method, params },
      headers: { 'a2a-version': '1.0', ...headers } as Record<string, string>,
    })
  return {
    caller,
    target,
    at,
    rpc,
    /** Sends a request while workers deliver events. */
    working: (method: string, params: Json) => agents.whileWorking(() => rpc(method, params)),
    rest: (method: 'GET' | 'POST', path: string, body?: unknown, token = caller.token, headers = {}) =>
      platform.call(method, at + path, { token, body, headers: { 'a2a-version': '1.0', ...headers } }),
  }
}
