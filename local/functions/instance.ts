import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { startTimeLimit, type TimeLimit } from '#shared/kernel/time-limit.ts'
import type { FunctionModel } from '../template/model.ts'
import type { FromWorker, FunctionError, ToWorker } from './protocol.ts'

/** Outcome of an invocation: a value, an error, or a started stream. */
export type InvokeResult =
  | { kind: 'value'; value: unknown; bytes: number }
  | {
      kind: 'error'
      error: FunctionError /** The function couldn't start, which the pool reports once. */
      unstarted?: true
    }
  | { kind: 'stream'; contentType: string; body: Readable }

interface Pending {
  settle: (result: InvokeResult) => void
  /** Set after the first chunk arrives. */
  body: Readable | undefined
  limit: TimeLimit
}

/** One worker thread with one function's bundle. */
export interface Instance {
  /** Resolves once the bundle is loaded, or once it is certain that it won't be: with the error that each invocation gets then. */
  readonly ready: Promise<FunctionError | undefined>
  /**
   * Invokes the function.
   * @param event as JSON text
   * @param timeoutMs after which the invocation fails, whatever the thread does
   */
  invoke(event: string, timeoutMs: number): Promise<InvokeResult>
  /** Accepts no more work, and ends when running invocations have ended. */
  retire(): void
  /** Shifts the thread's clock by a number of milliseconds. */
  shiftClock(offsetMs: number): void
  /** Ends the thread at once. Running invocations fail. */
  kill(): Promise<void>
  readonly usable: boolean
  /** Loaded, and without a running invocation. A thread that still loads is about to be used. */
  readonly idle: boolean
  readonly busy: number
  /** Time at which the bundle was loaded, or an invocation last began or ended, on the clock of `performance.now()`. */
  readonly usedAt: number
}

/**
 * Small, because there are many threads and each would keep the largest heap it ever used. With 8 MB, a busy thread collects once
 * for each run, which takes 6 % more CPU.
 */
const YOUNG_GENERATION_MB = 48

const failure = (errorType: string, errorMessage: string): InvokeResult => ({
  kind: 'error',
  error: { errorType, errorMessage },
})

/**
 * Starts a thread for a function.
 *
 * @param model the function to run
 * @param env the function's whole environment; the process's own is invisible to it
 * @param onLine called for each line that the function prints
 */
export const startInstance = (
  model: FunctionModel,
  env: Record<string, string>,
  onLine: (line: string) => void,
): Instance => {
  const pending = new Map<string, Pending>()
  let usable = true
  let loading = true
  let usedAt = performance.now()
  const { promise: ready, resolve: loaded } = Promise.withResolvers<FunctionError | undefined>()
  /** Why the thread ended before it had loaded the bundle. */
  let crash: Error | undefined
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: { directory: model.directory, handler: model.handler },
    env,
    stderr: true,
    name: model.name,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: model.memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  createInterface({ input: worker.stderr }).on('line', onLine)
  /** Printed without a line break so far. */
  let printed = ''
  const post = (message: ToWorker) => worker.postMessage(message)

  const finish = (id: string, result: InvokeResult | undefined) => {
    const entry = pending.get(id)
    if (!entry) return
    pending.delete(id)
    usedAt = performance.now()
    entry.limit.clear()
    if (!entry.body) entry.settle(result ?? failure('Runtime.ExitError', 'The function ended without an answer'))
    else if (result?.kind === 'error') entry.body.destroy(new Error(result.error.errorMessage))
    else entry.body.push(null)
    if (!usable && pending.size === 0) void worker.terminate()
  }

  const onChunk = (id: string, data: Uint8Array, contentType: string) => {
    const entry = pending.get(id)
    if (!entry) return
    if (!entry.body) {
      // Reading the body requests the next chunk, so that a slow client slows the handler.
      entry.body = new Readable({ read: () => post({ kind: 'ack', id }) })
      // The destroyer learns about the error. Without a listener, it would end the whole run.
      entry.body.on('error', () => undefined)
      // The handler continues. On Lambda, it would learn of the disconnect only at its timeout. Here its stream is
      // closed, so that a handler that checks it does not continue for minutes without a reader.
      entry.body.once('close', () => post({ kind: 'gone', id }))
      entry.settle({ kind: 'stream', contentType, body: entry.body })
    }
    // As on Lambda, a disconnected client does not stop the function.
    if (entry.body.destroyed) post({ kind: 'ack', id })
    else entry.body.push(data)
  }

  worker.on('message', (message: FromWorker) => {
    switch (message.kind) {
      case 'loaded':
        loading = false
        usedAt = performance.now()
        return loaded(undefined)
      case 'unloadable':
        loaded(message.error)
        return retire()
      case 'printed': {
        const lines = `${printed}${message.text}`.split('\n')
        printed = lines.pop() ?? ''
        return lines.forEach(onLine)
      }
      case 'result': {
        const value: unknown = message.value === undefined ? null : JSON.parse(message.value)
        return finish(message.id, { kind: 'value', value, bytes: Buffer.byteLength(message.value ?? 'null') })
      }
      case 'error':
        return finish(message.id, { kind: 'error', error: message.error })
      case 'chunk':
        return onChunk(message.id, message.data, message.contentType)
      case 'end': {
        const empty: InvokeResult = { kind: 'stream', contentType: message.contentType, body: Readable.from([]) }
        return finish(message.id, empty)
      }
    }
  })
  worker.on('error', (error) => {
    crash = error instanceof Error ? error : new Error(String(error))
    // The pool reports it, once for all attempts.
    if (loading) return
    onLine(JSON.stringify({ level: 'ERROR', message: 'The function crashed', error: String(error?.stack ?? error) }))
  })
  worker.on('exit', (code) => {
    // A thread that was ended on purpose says nothing about the function.
    const failed = loading && usable
    usable = false
    loading = false
    const errorMessage = `The function's thread can't start: ${crash?.message ?? `exit status ${code}`}`
    loaded(failed ? { errorType: 'Runtime.ExitError', errorMessage } : undefined)
    for (const id of [...pending.keys()]) {
      finish(id, failure('Runtime.ExitError', `RequestId: ${id} Error: Runtime exited with error: exit status ${code}`))
    }
  })

  const retire = () => {
    usable = false
    if (pending.size === 0) void worker.terminate()
  }

  return {
    ready,
    get usable() {
      return usable
    },
    get idle() {
      return !loading && pending.size === 0
    },
    get busy() {
      return pending.size
    },
    get usedAt() {
      return usedAt
    },
    retire,
    shiftClock: (offsetMs) => post({ kind: 'clock', offsetMs }),
    kill: async () => {
      usable = false
      await worker.terminate()
    },
    invoke: (event, timeoutMs) =>
      new Promise((settle) => {
        const id = randomUUID()
        const limit = startTimeLimit(timeoutMs, () => {
          const seconds = (timeoutMs / 1_000).toFixed(2)
          // On Lambda, the environment dies with the invocation that timed out. Here it also serves other invocations,
          // and dies when they are done.
          usable = false
          finish(id, failure('Sandbox.Timedout', `RequestId: ${id} Error: Task timed out after ${seconds} seconds`))
        })
        usedAt = performance.now()
        pending.set(id, { settle, body: undefined, limit })
        const { functionName, arn, memoryMb } = model
        const context = { functionName, functionArn: arn, memoryMb, deadline: Date.now() + timeoutMs }
        post({ kind: 'invoke', id, event, context })
      }),
  }
}
