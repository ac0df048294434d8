import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type StreamResponse, TaskState } from '@a2a-js/sdk'
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
import { dataMessage } from '#examples/demo/a2a-agents.ts'
import { resumingFetch } from '#examples/demo/resuming.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { json } from '#testkit/receiver.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { must, until } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'

const running = usingLocal()
const agent = usingReceiver()
const hook = usingReceiver()

const STEPS = [
  { type: 'message', output: { text: 'One.' } },
  { type: 'progress', output: { progress: 1, total: 2, message: 'Half.' } },
  { type: 'artifact', output: { artifact_id: 'list', name: 'List', parts: [{ text: 'a, ' }], last_chunk: false } },
  { type: 'artifact', output: { artifact_id: 'list', parts: [{ text: 'b' }], append: true, last_chunk: true } },
  { type: 'message', output: { text: 'Two.' } },
]

/** Events that a client sees of the agent's work, in order. */
const WHOLE = [
  'task SUBMITTED',
  'WORKING',
  'WORKING One.',
  'WORKING Half.',
  'artifact list',
  'artifact list',
  'WORKING Two.',
  'artifact output',
  'COMPLETED',
]

/** Reports some steps, and ends. */
const work = async ({ run, callback }: Execute) => {
  const report = (resource: string, body: unknown) =>
    must(`${callback.base_url}/runs/${run.id}`, 'POST', `/${resource}`, { token: callback.token, body })
  for (const step of STEPS) await report('steps', { steps: [step] })
  await report('complete', { status: 'succeeded', output: { found: 3 } })
}

interface Execute {
  run: { id: string }
  callback: { base_url: string; token: string }
  resume?: { input: { shelf: { content: { text: string } } } }
}

/** Answers with a question, and with its answer. */
const askFirst = ({ resume }: Execute): object =>
  resume
    ? { status: 'succeeded', output: { shelf: resume.input.shelf.content.text } }
    : { status: 'input_required', input_requests: { shelf: { message: 'Which shelf?' } } }

/** Installs an agent with the tool `look` and a client of it, in one developer's sandbox. */
const installed = async (answer?: (execute: Execute) => object) => {
  const { baseUrl } = running
  const unique = randomBytes(5).toString('hex')
  const registered = await must(baseUrl, 'POST', '/api/v1/dev/register', {
    body: { email: `dev-${unique}@example.com`, name: 'Ada' },
  })
  const headers = { 'x-developer-key': registered.api_key }
  const install = async (name: string): Promise<string> => {
    const slug = `${name}-${unique}`
    const app = await must(baseUrl, 'POST', '/api/v1/dev/apps', {
      headers,
      body: { slug, name, type: 'agent', requested_scopes: ['runs:read', 'runs:write', 'workspace:read'] },
    })
    await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions`, {
      headers,
      body: {
        id: `vendor-${unique}.${slug}`,
        version: '1.0.0',
        name,
        summary: 'An agent of the tests.',
        runtime: { type: 'webhook', endpoint: agent.url, resume: true },
        tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
      },
    })
    await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, { headers })
    return (await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, { headers })).access_token
  }
  const agentToken = await install('looker')
  const token = await install('client')
  const { installation } = await must(baseUrl, 'GET', '/api/v1/me', { token: agentToken })
  agent.answer(({ body }) => {
    const execute = JSON.parse(body.toString())
    if (answer) return json(answer(execute))
    work(execute).catch((error: unknown) => console.error(error))
    return { kind: 'answer', status: 202 }
  })
  return { token, url: `${baseUrl}/a2a/agents/${installation.id}/` }
}

/** An official client, reduced to what these tests do. Events are described in the words of {@link WHOLE}. */
interface Client {
  /** Calls the tool, or answers a task's question. Done once the stream is closed. */
  stream(see: (event: string, taskId: string) => void, answer?: { taskId: string; text: string }): Promise<void>
  resubscribe(id: string, see: (event: string) => void): Promise<void>
  /** Starts a task whose changes are pushed. @returns its id */
  sendWithPush(url: string, token: string): Promise<string>
}

const stateOf = (state: TaskState | undefined) => TaskState[state ?? 0]?.replace('TASK_STATE_', '') ?? ''

const describeEvent = ({ payload }: StreamResponse): [event: string, taskId: string] => {
  switch (payload?.$case) {
    case 'task':
      return [`task ${stateOf(payload.value.status?.state)}`, payload.value.id]
    case 'statusUpdate': {
      const { status, taskId } = payload.value
      const content = status?.message?.parts[0]?.content
      return [`${stateOf(status?.state)}${content?.$case === 'text' ? ` ${content.value}` : ''}`, taskId]
    }
    case 'artifactUpdate':
      return [`artifact ${payload.value.artifact?.artifactId}`, payload.value.taskId]
    default:
      throw new Error(`unexpected ${payload?.$case}`)
  }
}

const current = async (url: string, binding: string, fetchImpl: typeof fetch): Promise<Client> => {
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(url)
  const request = () => ({
    tenant: '',
    metadata: undefined,
    message: dataMessage({ skill: 'look', arguments: {} }),
    configuration: undefined,
  })
  return {
    async stream(see, answer) {
      const { message, ...rest } = request()
      const content = { $case: 'text', value: answer?.text ?? '' } as const
      const parts = answer ? [{ content, metadata: undefined, filename: '', mediaType: '' }] : message.parts
      const sent = { ...rest, message: { ...message, parts, taskId: answer?.taskId ?? '' } }
      for await (const event of client.sendMessageStream(sent)) see(...describeEvent(event))
    },
    async resubscribe(id, see) {
      for await (const event of client.resubscribeTask({ tenant: '', id })) see(describeEvent(event)[0])
    },
    async sendWithPush(pushUrl, token) {
      const authentication = { scheme: 'Bearer', credentials: 'secret' }
      const taskPushNotificationConfig = { tenant: '', id: '', taskId: '', url: pushUrl, token, authentication }
      const configuration = { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately: true }
      const sent = await client.sendMessage({ ...request(), configuration })
      if (!('id' in sent)) throw new Error('a task was expected')
      return sent.id
    },
  }
}

type LegacyEvent = Awaited<
  ReturnType<ReturnType<Awaited<ReturnType<LegacyClientFactory['createFromUrl']>>['sendMessageStream']>['next']>
>['value']

const describeLegacy = (event: LegacyEvent): [event: string, taskId: string] => {
  switch (event?.kind) {
    case 'task':
      return [`task ${event.status.state.toUpperCase()}`, event.id]
    case 'status-update': {
      const [part] = event.status.message?.parts ?? []
      return [`${event.status.state.toUpperCase()}${part?.kind === 'text' ? ` ${part.text}` : ''}`, event.taskId]
    }
    case 'artifact-update':
      return [`artifact ${event.artifact.artifactId}`, event.taskId]
    default:
      throw new Error(`unexpected ${event?.kind}`)
  }
}

const legacy = async (url: string, binding: string, fetchImpl: typeof fetch): Promise<Client> => {
  const client = await new LegacyClientFactory({
    transports: [new LegacyJsonRpc({ fetchImpl }), new LegacyRest({ fetchImpl })],
    preferredTransports: [binding as 'JSONRPC'],
    cardResolver: new LegacyCardResolver({ fetchImpl }),
  }).createFromUrl(url, 'v0.3/.well-known/agent-card.json')
  const request = () => ({
    message: {
      kind: 'message' as const,
      messageId: randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'data' as const, data: { skill: 'look', arguments: {} } }],
    },
  })
  return {
    async stream(see, answer) {
      const { message } = request()
      const answered = answer && { taskId: answer.taskId, parts: [{ kind: 'text' as const, text: answer.text }] }
      for await (const event of client.sendMessageStream({ message: { ...message, ...answered } }))
        see(...describeLegacy(event))
    },
    async resubscribe(id, see) {
      for await (const event of client.resubscribeTask({ id })) see(describeLegacy(event)[0])
    },
    async sendWithPush(pushUrl, token) {
      const authentication = { schemes: ['Bearer'], credentials: 'secret' }
      const pushNotificationConfig = { url: pushUrl, token, authentication }
      const configuration = { blocking: false, pushNotificationConfig }
      const sent = await client.sendMessage({ ...request(), configuration })
      if (sent.kind !== 'task') throw new Error('a task was expected')
      return sent.id
    },
  }
}

const FACES = [
  ['1.3.0', 'JSONRPC', current],
  ['1.3.0', 'HTTP+JSON', current],
  ['0.3.14', 'JSONRPC', legacy],
  ['0.3.14', 'HTTP+JSON', legacy],
] as const

// A sample has one of the bindings, in both versions.
describe.each(sampleOf(FACES, 2))('the official JavaScript client %s over %s', (version, binding, connect) => {
  it('sees every event of a task once and in order, although each of its streams is cut after one event', async () => {
    const { url, token } = await installed()
    const resuming = resumingFetch(token)
    const client = await connect(url, binding, resuming.fetch)
    const whole: string[] = []
    await client.stream((event) => whole.push(event))
    expect(whole).toEqual(WHOLE)

    const fresh = resumingFetch(token)
    const cut = await connect(url, binding, fresh.fetch)
    const seen: string[] = []
    let id = ''
    fresh.cutAfter(1)
    await cut.stream((event, taskId) => {
      seen.push(event)
      id = taskId
    })
    expect(seen).toHaveLength(1)
    let cuts = 1
    for (; seen.at(-1) !== 'COMPLETED' && cuts < 30; cuts++) {
      // A caller may hold three streams, and the platform learns of a broken one at its next event.
      await pause(200)
      fresh.cutAfter(1)
      await cut.resubscribe(id, (event) => seen.push(event))
    }
    expect(seen).toEqual(WHOLE)
    expect(cuts).toBe(WHOLE.length)
  })

  it('is done with a stream when the agent asks, so that none is left open, and streams what follows the answer', async () => {
    const { url, token } = await installed(askFirst)
    const client = await connect(url, binding, resumingFetch(token).fetch)
    let id = ''
    // More than a caller may hold at once.
    for (let task = 0; task < 4; task++) {
      const asked: string[] = []
      await client.stream((event, taskId) => {
        asked.push(event)
        id = taskId
      })
      expect(asked.at(-1)).toBe(version === '1.3.0' ? 'INPUT_REQUIRED Which shelf?' : 'INPUT-REQUIRED Which shelf?')
    }
    const again: string[] = []
    await client.resubscribe(id, (event) => again.push(event))
    expect(again.join()).toMatch(/INPUT.REQUIRED/)
    const rest: string[] = []
    await client.stream((event) => rest.push(event), { taskId: id, text: 'Three' })
    expect(rest.slice(-2)).toEqual(['artifact output', 'COMPLETED'])
  })

  it('gets each change of a task pushed once and in order, with its token, its credentials and a signature', async () => {
    const { url, token } = await installed()
    const client = await connect(url, binding, resumingFetch(token).fetch)
    const id = await client.sendWithPush(hook.url, 'tell-me')
    const arrived = () => hook.requests.filter(({ body }) => body.includes(id))
    const isOver = () => arrived().some(({ body }) => /TASK_STATE_COMPLETED|"completed"/.test(body.toString()))
    await until(() => isOver() || undefined)
    for (const { headers, body, at } of arrived()) {
      expect(headers).toMatchObject({ authorization: 'Bearer secret', 'x-a2a-notification-token': 'tell-me' })
      expect(verifySvc('tell-me', String(headers['x-svc-signature']), body.toString(), at / 1_000)).toBe(true)
    }
    const ids = arrived().map(({ headers }) => headers['x-svc-delivery'])
    expect(new Set(ids).size).toBe(ids.length)
    // Version 0.3 pushes the task as it is.
    const states = arrived().map(({ body }) => JSON.parse(body.toString()))
    if (version === '1.3.0') {
      const artifacts = states.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.artifactId ?? [])
      expect(artifacts).toEqual(['list', 'list', 'output'])
    } else {
      expect(states.at(-1)).toMatchObject({ kind: 'task', id, status: { state: 'completed' } })
    }
  })
})
