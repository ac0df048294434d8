import { setTimeout as pause } from 'node:timers/promises'
import { type AgentCard, type StreamResponse, TaskState, verifyAgentCardSignature } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { dataMessage, startCounter, startOutsideAgent } from './a2a-agents.ts'
import { bearer, demoClient, type Json, registerDeveloper, type StepLog, until } from './client.ts'
import { resumingFetch } from './resuming.ts'

export interface A2aJourneyOptions {
  baseUrl: string
  log?: StepLog
}

export interface A2aJourney {
  /** Events that the installed agent's client saw, in order, across the cut. */
  events: string[]
  /** Result of the installed agent. */
  output: unknown
  /** Run of the outside agent. */
  run: Json
  /** Address of the installed agent, and the client's token. */
  address: string
  token: string
}

/** Describes an event of a stream in a few words. */
const nameOf = ({ payload }: StreamResponse): string => {
  switch (payload?.$case) {
    case 'task':
      return `task ${stateOf(payload.value.status?.state)}`
    case 'statusUpdate': {
      const { state, message } = payload.value.status ?? {}
      const content = message?.parts[0]?.content
      return content?.$case === 'text' ? `${stateOf(state)}: ${content.value}` : stateOf(state)
    }
    case 'artifactUpdate':
      return `artifact ${payload.value.artifact?.artifactId}`
    default:
      return String(payload?.$case)
  }
}

const stateOf = (state: TaskState | undefined): string => TaskState[state ?? 0]?.replace('TASK_STATE_', '') ?? ''

/**
 * Shows A2A in both directions. An official client calls an installed agent, loses its stream, subscribes again and answers a
 * question. Then an agent on the official server, registered by its card, does a run.
 * @throws at the first unexpected response
 */
export const runA2aJourney = async ({ baseUrl, log }: A2aJourneyOptions): Promise<A2aJourney> => {
  const [counter, outside] = await Promise.all([startCounter(), startOutsideAgent()])
  const demo = demoClient(baseUrl, log)
  const { step, call } = demo
  try {
    const { developer, install } = await registerDeveloper(demo)
    const runtime = { type: 'webhook', endpoint: counter.url, resume: true }
    const tool = { name: 'count', description: 'Counts what is in stock.', input_schema: { type: 'object' } }
    const counterToken = await install('counter', { runtime, tools: [tool] })
    const token = await install('client', { runtime })
    const { installation } = await call('GET', '/api/v1/me', bearer(counterToken))
    const address = `${baseUrl}/a2a/agents/${installation.id}`
    step('A developer installs two agents in the sandbox', installation.id)

    const resuming = resumingFetch(token)
    const { fetch: fetchImpl } = resuming
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    })
    const client = await factory.createFromUrl(`${address}/`)
    const card: AgentCard = await call('GET', new URL(`${address}/.well-known/agent-card.json`).pathname, {})
    await verifyAgentCardSignature(async (kid) => {
      const { keys } = await call('GET', '/.well-known/jwks.json', {})
      return keys.find((key: Json) => key.kid === kid)
    })(card)
    step('An official A2A client reads its card, and verifies the signature', `${card.skills.map(({ id }) => id)}`)

    const seen: StreamResponse[] = []
    const request = { tenant: '', metadata: undefined, configuration: undefined }
    resuming.cutAfter(3)
    const message = dataMessage({ skill: 'count', arguments: {} })
    for await (const event of client.sendMessageStream({ ...request, message })) seen.push(event)
    const first = seen[0]?.payload
    if (first?.$case !== 'task') throw new Error('The stream doesn’t begin with the task.')
    const { id, contextId } = first.value
    step(`It calls the skill count, and its stream breaks after ${seen.length} events`, seen.map(nameOf).join(', '))

    // Events during the cut aren't lost.
    await pause(1_000)
    const before = seen.length
    for await (const event of client.resubscribeTask({ tenant: '', id })) seen.push(event)
    step('It subscribes again, and gets what it missed, up to a question', seen.slice(before).map(nameOf).join(', '))

    // The question has closed the stream. The answer opens another.
    const answer = dataMessage({ warehouse: { name: 'north' } }, { taskId: id, contextId })
    for await (const event of client.sendMessageStream({ ...request, message: answer })) seen.push(event)
    const task = await client.getTask({ tenant: '', id })
    const part = task.artifacts[0]?.parts[0]?.content
    const output = part?.$case === 'data' ? part.value : undefined
    if (output?.warehouse !== 'north') throw new Error(`The task ended as ${JSON.stringify(task)}`)
    step('It answers the agent’s question, and the stream of the answer brings the result', JSON.stringify(output))

    const cardUrl = `${outside.url}/.well-known/agent-card.json`
    const outsideToken = await install('outside', { runtime: { type: 'a2a', card_url: cardUrl } })
    step('The developer registers an agent that runs elsewhere by its card', cardUrl)

    const made = await call('POST', '/api/v1/runs', bearer(outsideToken), { input: { text: 'How many?' } })
    const session = await call('POST', '/api/v1/dev/sandbox/session', developer, { as: 'owner' })
    const person = bearer(session.token)
    const read = (isReady: (run: Json) => boolean) =>
      until(`The run ${made.id}`, () => call('GET', `/console/runs/${made.id}`, person), isReady)
    const question = ({ steps }: Json): Json => steps.find(({ type }: Json) => type === 'input_request')
    const asked = question(await read(question)).output.input_requests.question_1.message
    step('A run goes to it as a message, and its question reaches the person', `${made.id}: ${asked}`)

    await call('POST', `/console/runs/${made.id}/input`, person, {
      responses: { question_1: { action: 'accept', content: { text: 'red mugs' } } },
    })
    const run = await read(({ finished_at }) => finished_at !== null)
    if (run.status !== 'succeeded') throw new Error(`The run ended as ${JSON.stringify(run)}`)
    step('The answer goes into its task, whose result is the run’s', run.output.text)
    return { events: seen.map(nameOf), output, run, address, token }
  } finally {
    await Promise.all([counter.close(), outside.close()])
  }
}
