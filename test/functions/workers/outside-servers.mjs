/**
 * Starts agents on the official JavaScript SDKs 1.3.0 and 0.3.14, each over JSON-RPC and HTTP+JSON, without and with push
 * notifications, and prints their port. What an agent does depends on the text of the message.
 */
import { AGENT_CARD_PATH, Role, TaskState } from '@a2a-js/sdk'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import { DefaultRequestHandler as LegacyHandler, InMemoryTaskStore as LegacyStore } from 'a2a-sdk-0.3/server'
import {
  UserBuilder as LegacyUser,
  agentCardHandler as legacyCard,
  jsonRpcHandler as legacyJsonRpc,
  restHandler as legacyRest,
} from 'a2a-sdk-0.3/server/express'
import express from 'express'

/** Started tasks by SDK, so that tests can count them. */
const counts = { current: 0, legacy: 0 }

/** Plays the script that the text asks for. `say` publishes a status, `give` an artifact. */
const play = async (text, isAnswer, { say, give, end }) => {
  if (isAnswer) {
    give(`You said ${text}.`)
    say('COMPLETED')
  } else if (text === 'ask') say('INPUT_REQUIRED', 'Which one?')
  else if (text === 'fail') say('FAILED', 'It broke.')
  else if (text === 'stay') say('WORKING', 'Staying.')
  else {
    say('WORKING', 'Looking.')
    await new Promise((done) => setTimeout(done, 20))
    give('Twelve.')
    say('COMPLETED', 'Done.')
  }
  end()
}

const current = {
  async execute({ userMessage, taskId, contextId, task }, bus) {
    const message = (text) => ({
      messageId: `${taskId}-${text}`,
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: '' }],
      extensions: [],
      referenceTaskIds: [],
    })
    const status = (state, text) => ({
      state: TaskState[`TASK_STATE_${state}`],
      message: text === undefined ? undefined : message(text),
      timestamp: new Date().toISOString(),
    })
    if (!task) {
      counts.current++
      const made = { id: taskId, contextId, status: status('SUBMITTED'), artifacts: [], history: [userMessage] }
      bus.publish(AgentEvent.task(made))
    }
    await play(userMessage.parts[0].content.value, task !== undefined, {
      say: (state, text) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text) })),
      give: (text) =>
        bus.publish(
          AgentEvent.artifactUpdate({
            taskId,
            contextId,
            artifact: { artifactId: 'a', name: 'Answer', description: '', parts: message(text).parts, extensions: [] },
            append: false,
            lastChunk: true,
          }),
        ),
      end: () => bus.finished(),
    })
  },
  async cancelTask(taskId, bus) {
    const status = { state: TaskState.TASK_STATE_CANCELED, timestamp: new Date().toISOString() }
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status }))
    bus.finished()
  },
}

const legacy = {
  async execute({ userMessage, taskId, contextId, task }, bus) {
    const message = (text) => ({
      kind: 'message',
      messageId: `${taskId}-${text}`,
      contextId,
      taskId,
      role: 'agent',
      parts: [{ kind: 'text', text }],
    })
    const status = (state, text) => ({
      state: state.toLowerCase().replace('_', '-'),
      ...(text !== undefined && { message: message(text) }),
      timestamp: new Date().toISOString(),
    })
    if (!task) {
      counts.legacy++
      bus.publish({ kind: 'task', id: taskId, contextId, status: status('SUBMITTED'), history: [userMessage] })
    }
    await play(userMessage.parts[0].text, task !== undefined, {
      say: (state, text) =>
        bus.publish({
          kind: 'status-update',
          taskId,
          contextId,
          status: status(state, text),
          final: ['COMPLETED', 'FAILED', 'INPUT_REQUIRED'].includes(state),
        }),
      give: (text) =>
        bus.publish({
          kind: 'artifact-update',
          taskId,
          contextId,
          artifact: { artifactId: 'a', name: 'Answer', parts: message(text).parts },
          lastChunk: true,
        }),
      end: () => bus.finished(),
    })
  },
  async cancelTask(taskId, bus) {
    const status = { state: 'canceled', timestamp: new Date().toISOString() }
    bus.publish({ kind: 'status-update', taskId, contextId: '', status, final: true })
    bus.finished()
  },
}

const app = express()
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  const base = `http://127.0.0.1:${port}`
  const about = {
    name: 'Outside agent',
    description: 'An agent of the tests.',
    version: '1.0.0',
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'look', name: 'Look', description: 'Looks it up.', tags: ['look'] }],
  }
  const kinds = ['JSONRPC', 'HTTP+JSON'].flatMap((binding) => [false, true].map((pushes) => ({ binding, pushes })))
  for (const { binding, pushes } of kinds) {
    const isRpc = binding === 'JSONRPC'
    const at = `${isRpc ? 'rpc' : 'rest'}${pushes ? '-pushing' : ''}`
    const capabilities = { streaming: true, pushNotifications: pushes }
    const card = {
      ...about,
      capabilities,
      supportedInterfaces: [{ url: `${base}/1.0/${at}`, protocolBinding: binding, protocolVersion: '1.0', tenant: '' }],
      securitySchemes: {},
      securityRequirements: [],
      signatures: [],
    }
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), current)
    const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
    const path = `/1.0/${at}`
    app.use(`${path}/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }))
    app.use(path, isRpc ? jsonRpcHandler(options) : restHandler(options))

    const old = {
      ...about,
      capabilities,
      protocolVersion: '0.3.0',
      url: `${base}/0.3/${at}`,
      preferredTransport: binding,
    }
    const oldHandler = new LegacyHandler(old, new LegacyStore(), legacy)
    const oldOptions = { requestHandler: oldHandler, userBuilder: LegacyUser.noAuthentication }
    app.use(`/0.3/${at}/${AGENT_CARD_PATH}`, legacyCard({ agentCardProvider: oldHandler }))
    app.use(`/0.3/${at}`, isRpc ? legacyJsonRpc(oldOptions) : legacyRest(oldOptions))
  }
  app.get('/counts', (_request, response) => response.json(counts))
  console.log(port)
})
