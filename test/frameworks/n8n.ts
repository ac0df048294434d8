import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { type WebSocket, WebSocketServer } from 'ws'

/** Input of a Code node behind a Webhook node that keeps the raw body. */
export interface Delivered {
  headers: Record<string, string>
  body: string
}

type Message = Record<string, unknown> & { type: string }

const NAME = 'Code'
const TRIGGER = 'Webhook'

/** The data of a workflow in which a Webhook node is followed by a Code node, as n8n gives it to its runner. */
const dataOf = (items: object[], env: Record<string, string>, isEnvBlocked: boolean) => {
  const trigger = {
    id: '1',
    name: TRIGGER,
    type: 'n8n-nodes-base.webhook',
    typeVersion: 2,
    position: [0, 0],
    parameters: {},
  }
  const node = { id: '2', name: NAME, type: 'n8n-nodes-base.code', typeVersion: 2, position: [0, 0], parameters: {} }
  const task = { startTime: 0, executionTime: 0, executionIndex: 0, executionStatus: 'success', source: [] }
  return {
    workflow: {
      id: '1',
      name: 'Webhooks',
      active: true,
      nodes: [trigger, node],
      connections: { [TRIGGER]: { main: [[{ node: NAME, type: 'main', index: 0 }]] } },
    },
    inputData: { main: [items] },
    connectionInputSource: { main: [{ previousNode: TRIGGER, previousNodeOutput: 0 }] },
    node,
    runExecutionData: {
      resultData: { runData: { [TRIGGER]: [{ ...task, data: { main: [items] } }] }, lastNodeExecuted: TRIGGER },
    },
    runIndex: 0,
    itemIndex: 0,
    activeNodeName: NAME,
    contextNodeName: NAME,
    defaultReturnRunIndex: -1,
    siblingParameters: {},
    mode: 'webhook',
    selfData: {},
    envProviderState: { env, isEnvAccessBlocked: isEnvBlocked, isProcessAvailable: true },
    additionalData: { executionId: '1', variables: {} },
  }
}

/**
 * Starts n8n's own runner of Code nodes, and takes the place of the n8n that it connects to.
 *
 * @param folder folder in which `@n8n/task-runner` is installed
 * @param env environment variables of n8n, which it passes on
 */
export const startRunner = async (folder: string, env: Record<string, string>) => {
  const broker = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(broker, 'listening')
  const connected = once(broker, 'connection') as Promise<[WebSocket]>
  const start = path.join(folder, 'node_modules/@n8n/task-runner/dist/start.js')
  const child = spawn(process.execPath, [start], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      ...env,
      N8N_RUNNERS_TASK_BROKER_URI: `http://127.0.0.1:${(broker.address() as AddressInfo).port}`,
      N8N_RUNNERS_GRANT_TOKEN: 'token',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const failed = once(child, 'exit').then(() => {
    throw new Error('The runner ended.')
  })
  const [socket] = await Promise.race([connected, failed])
  failed.catch(() => undefined)
  const send = (message: object) => socket.send(JSON.stringify(message))

  /** Runs code as a Code node does once for all items, and returns its items. @throws what the code throws */
  const execute = (code: string, { headers, body }: Delivered): Promise<unknown> => {
    const taskId = randomUUID()
    const binary = { data: { data: '', mimeType: 'application/json', fileName: 'data' } }
    // n8n 2 blocks it by default. The runner learns of it with the data.
    const isEnvBlocked = env.N8N_BLOCK_ENV_ACCESS_IN_NODE !== 'false'
    const data = dataOf([{ json: { headers }, binary }], env, isEnvBlocked)
    let isOffered = false
    return new Promise((resolve, reject) => {
      const receive = (raw: Buffer) => {
        const message: Message = JSON.parse(raw.toString())
        const { offerId, requestId, callId } = message
        if (message.type === 'runner:taskoffer' && !isOffered) {
          isOffered = true
          send({ type: 'broker:taskofferaccept', taskId, offerId })
        }
        if (message.taskId !== taskId) return
        if (message.type === 'runner:taskaccepted')
          send({
            type: 'broker:tasksettings',
            taskId,
            settings: { code, nodeMode: 'runOnceForAllItems', workflowMode: 'webhook', continueOnFail: false },
          })
        if (message.type === 'runner:taskdatarequest')
          send({ type: 'broker:taskdataresponse', taskId, requestId, data })
        if (message.type === 'runner:rpc') {
          const isBody = message.name === 'helpers.getBinaryDataBuffer' && String(message.params) === '0,data'
          const answer = isBody
            ? { status: 'success', data: Buffer.from(body) }
            : { status: 'error', data: message.name }
          send({ type: 'broker:rpcresponse', taskId, callId, ...answer })
        }
        if (message.type !== 'runner:taskdone' && message.type !== 'runner:taskerror') return
        socket.off('message', receive)
        if (message.type === 'runner:taskdone') resolve((message.data as { result: unknown }).result)
        else reject(new Error((message.error as { message: string }).message))
      }
      socket.on('message', receive)
      send({ type: 'broker:runnerregistered' })
    })
  }
  return {
    execute,
    close: () => {
      child.kill('SIGKILL')
      socket.terminate()
      broker.close()
    },
  }
}
