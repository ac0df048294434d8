import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import type { FunctionModel } from '../template/model.ts'
import type { FromWorker, FunctionError, ToWorker } from './protocol.ts'

/** How an invocation ended: a value, an error, or a stream that has begun. */
export type InvokeResult =
  | { kind: 'value'; value: unknown; bytes: number }
  | { kind: 'error'; error: FunctionError }
  | { kind: 'stream'; contentType: string; body: Readable }

interface Pending {
  settle: (result: InvokeResult) => void
  /** Set once the first chunk came. */
  body: Readable | undefined
  timer: NodeJS.Timeout
}

/** One worker thread with one function's bundle. */
export interface Instance {
  /** The bundle is loaded; or the thread has ended, and cannot load it. */
  readonly ready: Promise<void>
  /** @param timeoutMs after which the invocation fails, whatever the thread does */
  invoke(event: unknown, timeoutMs: number): Promise<InvokeResult>
  /** Takes no more work; ends when what runs has ended. */
  retire(): void
  /** Sets the thread's clock so many milliseconds off. */
  shiftClock(offsetMs: number): void
  /** Ends at once: what runs fails. */
  kill(): Promise<void>
  readonly usable: boolean
  readonly busy: number
}

const failure = (errorType: string, errorMessage: string): InvokeResult => ({
  kind: 'error',
  error: { errorType, errorMessage },
})

/**
 * Starts a thread for a function.
 *
 * @param model what to run
 * @param env the function's whole environment: nothing of the process's own is visible to it
 * @param onLine told each line that the function prints
 */
export const startInstance = (
  model: FunctionModel,
  env: Record<string, string>,
  onLine: (line: string) => void,
): Instance => {
  const pending = new Map<string, Pending>()
  let usable = true
  const { promise: ready, resolve: loaded } = Promise.withResolvers<void>()
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: { directory: model.directory, handler: model.handler },
    env,
    stdout: true,
    stderr: true,
    name: model.name,
    execArgv: [],
  })
  createInterface({ input: worker.stdout }).on('line', onLine)
  createInterface({ input: worker.stderr }).on('line', onLine)
  const post = (message: ToWorker) => worker.postMessage(message)

  const finish = (id: string, result: InvokeResult | undefined) => {
    const entry = pending.get(id)
    if (!entry) return
    pending.delete(id)
    clearTimeout(entry.timer)
    if (!entry.body) entry.settle(result ?? failure('Runtime.ExitError', 'The function ended without an answer'))
    else if (result?.kind === 'error') entry.body.destroy(new Error(result.error.errorMessage))
    else entry.body.push(null)
    if (!usable && pending.size === 0) void worker.terminate()
  }

  const onChunk = (id: string, data: Uint8Array, contentType: string) => {
    const entry = pending.get(id)
    if (!entry) return
    if (!entry.body) {
      // Taking the body pulls the next chunk over, so that a slow client slows the handler.
      entry.body = new Readable({ read: () => post({ kind: 'ack', id }) })
      // Who destroys it is told; without a listener the error would end the whole run.
      entry.body.on('error', () => undefined)
      // The handler goes on, as on Lambda, where it learns of this only by its time's end; here its stream is closed, so that
      // one that looks at it does not go on for minutes for nobody.
      entry.body.once('close', () => post({ kind: 'gone', id }))
      entry.settle({ kind: 'stream', contentType, body: entry.body })
    }
    // A client that is gone does not stop the function, as on Lambda.
    if (entry.body.destroyed) post({ kind: 'ack', id })
    else entry.body.push(data)
  }

  worker.on('message', (message: FromWorker) => {
    switch (message.kind) {
      case 'loaded':
        return loaded()
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
    onLine(JSON.stringify({ level: 'ERROR', message: 'The function crashed', error: String(error?.stack ?? error) }))
  })
  worker.on('exit', (code) => {
    usable = false
    loaded()
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
    get busy() {
      return pending.size
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
        const timer = setTimeout(() => {
          const seconds = (timeoutMs / 1_000).toFixed(2)
          // On Lambda the environment dies with the invocation that ran out of time; here it serves others, too, and
          // dies when they are done.
          usable = false
          finish(id, failure('Sandbox.Timedout', `RequestId: ${id} Error: Task timed out after ${seconds} seconds`))
        }, timeoutMs)
        pending.set(id, { settle, body: undefined, timer })
        const { functionName, arn, memoryMb } = model
        const context = { functionName, functionArn: arn, memoryMb, deadline: Date.now() + timeoutMs }
        post({ kind: 'invoke', id, event: JSON.stringify(event), context })
      }),
  }
}
