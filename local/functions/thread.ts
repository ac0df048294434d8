import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { realNow, shiftClock } from './clock.ts'
import {
  type FromWorker,
  type FunctionError,
  type InvokeMessage,
  STREAMING,
  type ToWorker,
  type WorkerData,
} from './protocol.ts'
import { awslambda, handlerStream, ResponseStream } from './response-stream.ts'

// The runtime of one function. It loads the built bundle and calls its handler, as Lambda's own runtime does.

type Handler = ((...args: unknown[]) => unknown) & { [STREAMING]?: string }

const { directory, handler: handlerName } = workerData as WorkerData
const port = parentPort
if (!port) throw new Error('This module runs in a worker thread')

Object.assign(globalThis, { awslambda })

const post = (message: FromWorker) => port.postMessage(message)

/**
 * Sends the function's output through the same port as its results, so that an invocation's lines are read before its
 * answer. The thread's own stream has another port and may lag.
 */
process.stdout.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
  post({ kind: 'printed', text: Buffer.from(chunk as string).toString() })
  const written = rest.at(-1)
  if (typeof written === 'function') queueMicrotask(() => written())
  return true
}

/** Writes that wait until their chunk is taken. */
const unacknowledged = new Map<string, () => void>()
/** Streams that are currently written. */
const open = new Map<string, ResponseStream>()

const load = async (): Promise<Handler> => {
  const [file = 'index', name = 'handler'] = handlerName.split('.')
  const found = ['.cjs', '.js', '.mjs'].map((end) => path.join(directory, file + end)).find((each) => existsSync(each))
  if (!found) throw new Error(`No bundle ${file} in ${directory}`)
  const module = found.endsWith('.cjs')
    ? createRequire(pathToFileURL(found))(found)
    : await import(pathToFileURL(found).href)
  const handler = module[name] ?? module.default?.[name]
  if (typeof handler !== 'function') throw new Error(`${found} exports no function ${name}`)
  return handler
}

const asFunctionError = (error: unknown): FunctionError =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] }
    : { errorType: typeof error, errorMessage: String(error) }

/** Returns the type under which Lambda's runtime reports an error of loading. */
const loadErrorType = (error: unknown): string => {
  if (error instanceof SyntaxError) return 'Runtime.UserCodeSyntaxError'
  const isMissing = (error as NodeJS.ErrnoException | null)?.code?.endsWith('MODULE_NOT_FOUND')
  return isMissing ? 'Runtime.ImportModuleError' : asFunctionError(error).errorType
}

const contextOf = ({ id, context }: InvokeMessage) => ({
  callbackWaitsForEmptyEventLoop: true,
  functionName: context.functionName,
  functionVersion: '$LATEST',
  invokedFunctionArn: context.functionArn,
  memoryLimitInMB: String(context.memoryMb),
  awsRequestId: id,
  logGroupName: `/aws/lambda/${context.functionName}`,
  logStreamName: 'local',
  getRemainingTimeInMillis: () => Math.max(0, context.deadline - realNow()),
})

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

const stream = async (handler: Handler, message: InvokeMessage) => {
  const { id } = message
  const response = new ResponseStream((data, taken) => {
    unacknowledged.set(id, taken)
    post({ kind: 'chunk', id, data, contentType: response.contentType })
  })
  open.set(id, response)
  const finished = new Promise<void>((resolve, reject) => {
    response.once('close', resolve)
    response.once('error', reject)
  })
  // The handler may fail first, and its error is the answer.
  finished.catch(() => undefined)
  const handling = handler(JSON.parse(message.event), handlerStream(response), contextOf(message))
  if (!isPromise(handling)) throw new Error('Streaming does not support non-async handlers.')
  const [result] = await Promise.all([handling, finished])
  if (result !== undefined) console.warn('Streaming handlers ignore return values.')
  post({ kind: 'end', id, contentType: response.contentType })
}

/** @throws Error for a handler that Lambda's runtime refuses */
const checkHandler = (handler: Handler): void => {
  const streaming = handler[STREAMING]
  if (streaming && streaming !== 'response') throw new Error('Only response streaming is supported.')
  if (!streaming && handler.length >= 3) {
    throw new Error('Since Node.js 24, Lambda supports no handlers with a callback. Return a promise.')
  }
}

const invoke = async (message: InvokeMessage) => {
  const { id } = message
  try {
    const handler = await loaded
    checkHandler(handler)
    if (handler[STREAMING]) await stream(handler, message)
    else
      post({ kind: 'result', id, value: JSON.stringify(await handler(JSON.parse(message.event), contextOf(message))) })
  } catch (error) {
    post({ kind: 'error', id, error: asFunctionError(error) })
  } finally {
    unacknowledged.delete(id)
    open.delete(id)
  }
}

const loaded = load()
loaded.then(
  () => post({ kind: 'loaded' }),
  (error) => post({ kind: 'unloadable', error: { ...asFunctionError(error), errorType: loadErrorType(error) } }),
)

port.on('message', (message: ToWorker) => {
  if (message.kind === 'invoke') void invoke(message)
  else if (message.kind === 'clock') shiftClock(message.offsetMs)
  else {
    if (message.kind === 'gone') open.get(message.id)?.destroy()
    const taken = unacknowledged.get(message.id)
    unacknowledged.delete(message.id)
    taken?.()
  }
})
