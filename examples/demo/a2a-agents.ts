import { randomUUID } from 'node:crypto'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { AgentCard, type Message, Role, TaskState, type TaskStatus } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import type { Json } from './client.ts'
import { type DemoServer, startServer } from './server.ts'

/** Starts an agent of the platform. It counts shelf by shelf, asks which warehouse is meant, and answers with the sum. */
export const startCounter = (): Promise<DemoServer> =>
  startServer(async (request, response) => {
    const execute: Json = await json(request)
    if (execute.resume) {
      const { content } = execute.resume.input.warehouse
      const answer = { status: 'succeeded', output: { count: 12, warehouse: content.name } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      return
    }
    response.writeHead(202).end()
    count(execute).catch((error: unknown) => console.error('The sample agent failed:', error))
  })

const count = async ({ run, callback }: Json): Promise<void> => {
  const report = async (resource: string, body: unknown) => {
    const response = await fetch(`${callback.base_url}/runs/${run.id}/${resource}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${callback.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${resource} answered ${response.status}: ${await response.text()}`)
  }
  for (const shelf of [1, 2, 3]) {
    await report('steps', { steps: [{ type: 'message', output: { text: `Counting shelf ${shelf}.` } }] })
    await pause(200)
  }
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  await report('input-requests', { input_requests: { warehouse: { message: 'Which warehouse?', schema } } })
}

/** Starts an agent that knows nothing of the platform: a server on the official SDK. It asks once, then answers. */
export const startOutsideAgent = async (): Promise<DemoServer> => {
  const agent = await startServer(async (request, response) => {
    const isCard = request.method === 'GET'
    const requestedVersion = String(request.headers['a2a-version'])
    const answer = isCard
      ? AgentCard.toJSON(card)
      : await transport.handle((await json(request)) as Json, new ServerCallContext({ requestedVersion }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const card: AgentCard = {
    name: 'Stock helper',
    description: 'Answers questions about stock.',
    version: '1.0.0',
    supportedInterfaces: [{ url: `${agent.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  }
  const transport = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), helper))
  return agent
}

const helper: AgentExecutor = {
  async execute({ userMessage, task, taskId, contextId }, bus) {
    const message = (text: string): Message => ({ ...textMessage(text, { taskId, contextId }), role: Role.ROLE_AGENT })
    const status = (state: TaskState, text: string): TaskStatus => ({
      state,
      message: message(text),
      timestamp: new Date().toISOString(),
    })
    const { content } = userMessage.parts[0] ?? {}
    const said = content?.$case === 'text' ? content.value : ''
    if (task) {
      const done = status(TaskState.TASK_STATE_COMPLETED, `12 (${said})`)
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: done, metadata: undefined }))
    } else {
      const asking = status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Of what?')
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: asking,
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        }),
      )
    }
    bus.finished()
  },
  async cancelTask() {},
}

/** Returns a message with one text. */
const textMessage = (text: string, ids: { taskId?: string; contextId?: string } = {}): Message =>
  messageOf({ $case: 'text', value: text }, ids)

/** Returns a message with one data part. */
export const dataMessage = (value: object, ids: { taskId?: string; contextId?: string } = {}): Message =>
  messageOf({ $case: 'data', value }, ids)

const messageOf = (content: Message['parts'][number]['content'], { taskId = '', contextId = '' }): Message => ({
  messageId: randomUUID(),
  contextId,
  taskId,
  role: Role.ROLE_USER,
  parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
})
