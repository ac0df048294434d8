import { randomUUID } from 'node:crypto'
import {
  type AgentCard,
  type Message,
  Role,
  type StreamResponse,
  TaskState,
  verifyAgentCardSignature,
} from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import {
  DefaultAgentCardResolver as LegacyCardResolver,
  ClientFactory as LegacyClientFactory,
  JsonRpcTransportFactory as LegacyJsonRpc,
  RestTransportFactory as LegacyRest,
} from 'a2a-sdk-0.3/client'
import { describe, expect, it } from 'vitest'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, type Behaviour, succeedsWith, usingAgents } from '../api/agents-support.ts'
import { conversation } from './a2a-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

const BASE = 'https://platform.test'

/** Sends the requests of an official client to the platform, with the caller's token. */
const fetchAs =
  (token: string): typeof fetch =>
  async (input, init) => {
    const { pathname, search } = new URL(String(input))
    const headers = Object.fromEntries(new Headers(init?.headers))
    const method = (init?.method ?? 'GET') as 'GET' | 'POST'
    const body = init?.body === undefined || init.body === null ? undefined : String(init.body)
    const card = pathname.includes('.well-known')
    const sent = { headers, ...(!card && { token }), ...(body !== undefined && { body }) }
    const answer = await platform.call(method, pathname + search, sent)
    return new Response(answer.status === 204 ? null : answer.text, { status: answer.status, headers: answer.headers })
  }

const message = (data: Record<string, unknown>): Message => ({
  messageId: randomUUID(),
  contextId: '',
  taskId: '',
  role: Role.ROLE_USER,
  parts: [{ content: { $case: 'data', value: data }, metadata: undefined, filename: '', mediaType: '' }],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
})

const sending = (returnImmediately: boolean) => ({
  tenant: '',
  message: message({ skill: 'look', arguments: { n: 1 } }),
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
  metadata: undefined,
})

const scene = async (behaviour: Behaviour) => {
  const made = await conversation(platform, agents, behaviour)
  return { ...made, url: `${BASE}${made.at}/`, fetchImpl: fetchAs(made.caller.token) }
}

describe.each(['JSONRPC', 'HTTP+JSON'])('the official client 1.3.0 over %s', (binding) => {
  const connected = async (behaviour: Behaviour) => {
    const made = await scene(behaviour)
    const { fetchImpl } = made
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
      preferredTransports: [binding],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
      clientConfig: { polling: true },
    })
    return { ...made, client: await factory.createFromUrl(made.url) }
  }

  it('verifies the card’s signature, and refuses a changed card', async () => {
    const { client, fetchImpl, at } = await connected(succeedsWith({}))
    const keyFor = async (kid: string, jku?: string) => {
      expect(jku).toBe(`${BASE}/.well-known/jwks.json`)
      const { body } = await platform.call('GET', '/.well-known/jwks.json')
      return body.keys.find((key: { kid: string }) => key.kid === kid)
    }
    const verify = verifyAgentCardSignature(keyFor)
    // The raw JSON: an object of the library has lost the security schemes when it is verified.
    for (const path of ['/.well-known/agent-card.json', '/extendedAgentCard']) {
      const answer = await fetchImpl(`${BASE}${at}${path}`, { headers: { 'a2a-version': '1.0' } })
      const card = (await answer.json()) as AgentCard
      await verify(card)
      await expect(verify({ ...card, name: 'Evil' })).rejects.toThrow('No valid signatures')
    }
    expect((await client.getAgentCard()).skills.map(({ id }) => id)).toEqual(['look', 'message'])
  })

  it('sends, reads, lists, follows and cancels', async () => {
    const { client } = await connected(succeedsWith({ found: 3 }))
    const sent = await client.sendMessage(sending(true))
    if (!('id' in sent)) throw new Error('a task was expected')
    expect(sent.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED)
    await platform.drain()
    const task = await client.getTask({ tenant: '', id: sent.id })
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'data', value: { found: 3 } })
    const list = await client.listTasks({
      tenant: '',
      contextId: sent.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    })
    expect(list.tasks.map(({ id }) => id)).toEqual([sent.id])
    await expect(client.cancelTask({ tenant: '', id: sent.id, metadata: undefined })).rejects.toThrow('has ended')
    await expect(client.getTask({ tenant: '', id: 'run_0' })).rejects.toThrow('doesn’t exist')
  })

  it('streams, is cut, and resubscribes', async () => {
    const { client } = await connected(() => ACCEPT)
    const seen: StreamResponse[] = []
    for await (const event of client.sendMessageStream(sending(false))) seen.push(event)
    const [first] = seen
    if (first?.payload?.$case !== 'task') throw new Error('a task was expected')
    await platform.drain()
    const { id } = first.payload.value
    const again: StreamResponse[] = []
    for await (const event of client.resubscribeTask({ tenant: '', id })) again.push(event)
    if (again[0]?.payload?.$case !== 'task') throw new Error('a task was expected')
    expect(again[0].payload.value.status?.state).toBe(TaskState.TASK_STATE_WORKING)
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined })
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
  })
})

describe.each(['JSONRPC', 'HTTP+JSON'])('the official client 0.3.14 over %s', (binding) => {
  it('sends, streams, reads, resubscribes and cancels', async () => {
    const { url, fetchImpl, target } = await scene(succeedsWith({ found: 3 }))
    const factory = new LegacyClientFactory({
      transports: [new LegacyJsonRpc({ fetchImpl }), new LegacyRest({ fetchImpl })],
      preferredTransports: [binding as 'JSONRPC'],
      cardResolver: new LegacyCardResolver({ fetchImpl }),
    })
    const client = await factory.createFromUrl(url, 'v0.3/.well-known/agent-card.json')
    const call = () => ({
      message: {
        kind: 'message' as const,
        messageId: randomUUID(),
        role: 'user' as const,
        parts: [{ kind: 'data' as const, data: { skill: 'look', arguments: { n: 1 } } }],
      },
      configuration: { blocking: false },
    })
    const sent = await client.sendMessage(call())
    if (sent.kind !== 'task') throw new Error('a task was expected')
    expect(sent.status.state).toBe('submitted')
    await platform.drain()
    const task = await client.getTask({ id: sent.id })
    expect(task.status.state).toBe('completed')
    expect(task.artifacts?.[0]?.parts[0]).toMatchObject({ kind: 'data', data: { found: 3 } })
    await expect(client.cancelTask({ id: sent.id })).rejects.toThrow(/has ended|cannot be canceled/)
    await expect(client.getTask({ id: 'run_0' })).rejects.toThrow(/doesn’t exist|not found/)

    target.behaves(() => ACCEPT)
    let id = ''
    for await (const event of client.sendMessageStream(call())) if (event.kind === 'task') id = event.id
    await platform.drain()
    const states: string[] = []
    for await (const event of client.resubscribeTask({ id })) {
      if (event.kind === 'task' || event.kind === 'status-update') states.push(event.status.state)
    }
    expect(states).toEqual(['working'])
    expect((await client.cancelTask({ id })).status.state).toBe('canceled')
    expect((await client.getAgentCard()).skills.map((skill) => skill.id)).toEqual(['look', 'message'])
  })
})
