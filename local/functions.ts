import { type InvokeResult, startInstance } from './functions/instance.ts'
import { createPool, type PoolLimits } from './functions/pool.ts'
import type { FunctionModel } from './template/model.ts'

export type { InvokeResult } from './functions/instance.ts'
export type { PoolLimits } from './functions/pool.ts'

/** A line printed by a function. */
export interface FunctionLine {
  functionName: string
  line: string
}

/**
 * Intercepts a function's invocations. It may change the event or the result, and invoke the function once, twice or
 * not at all.
 */
export type InvokeInterceptor = (
  event: unknown,
  next: (event: unknown) => Promise<InvokeResult>,
) => Promise<InvokeResult>

/** All functions of the template. */
export interface Functions {
  models: FunctionModel[]
  /** @param id short name, logical id, function name or ARN */
  find(id: string): FunctionModel | undefined
  invoke(id: string, event: unknown): Promise<InvokeResult>
  /** @returns a function that removes the interceptor */
  intercept(id: string, interceptor: InvokeInterceptor): () => void
  /** Starts a function's thread ahead of its first use. Resolves once its bundle is loaded. */
  warm(id: string): Promise<void>
  /** Switches to a changed bundle. Running invocations end in the old thread, new ones run in a new thread. */
  reload(id: string): void
  /** Shifts a function's clock by a number of milliseconds, in the current thread and in later ones. */
  shiftClock(id: string, offsetMs: number): void
  /** Ends the thread at once, in the middle of its work. */
  kill(id: string): Promise<void>
  /** Registers a listener for the start and end of invocations, after which something may have been written. */
  onActivity(listener: () => void): () => void
  readonly running: number
  /** Live threads, busy or idle. */
  readonly threads: number
  stop(): Promise<void>
}

/** Lambda's limit for one buffered payload, in and out. */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024

/** Type of the error for an event above it. */
export const EVENT_TOO_LARGE = 'RequestEntityTooLargeException'

/**
 * Makes the functions callable. A thread starts at a function's first use and ends when idle. Several invocations share
 * it, since the platform's handlers wait far more than they compute.
 *
 * @param options.environment the whole environment of a function
 * @param options.onLine called for each line that a function prints
 */
export const createFunctions = (options: {
  models: FunctionModel[]
  environment: (model: FunctionModel) => Record<string, string>
  onLine: (line: FunctionLine) => void
  /** Called when an invocation has ended. */
  onEnd?: (end: { model: FunctionModel; event: unknown; result: InvokeResult }) => void
  limits?: PoolLimits
}): Functions => {
  const { models } = options
  const pool = createPool(
    (model) =>
      startInstance(model, options.environment(model), (line) => options.onLine({ functionName: model.name, line })),
    options.limits ?? {},
    (model, error) => report(model, { kind: 'error', error }, 'The function can’t start'),
  )
  const interceptors = new Map<FunctionModel, Set<InvokeInterceptor>>()
  const listeners = new Set<() => void>()
  let running = 0
  let stopped = false

  const find = (id: string) =>
    models.find(({ name, logicalId, functionName, arn }) => [name, logicalId, functionName, arn].includes(id))

  const known = (id: string): FunctionModel => {
    const model = find(id)
    if (!model)
      throw new Error(`Unknown function ${id}. Available functions: ${models.map(({ name }) => name).join(', ')}`)
    return model
  }

  const notify = () => {
    for (const listener of listeners) listener()
  }

  /** Logs an error that a handler throws, as Lambda's runtime does. */
  const report = (model: FunctionModel, { error }: Extract<InvokeResult, { kind: 'error' }>, said = 'Invoke Error') => {
    const { errorType: name, errorMessage: message, trace } = error
    const line = JSON.stringify({ level: 'ERROR', message: said, error: { name, message, stack: trace } })
    options.onLine({ functionName: model.name, line })
  }

  const run = async (model: FunctionModel, event: unknown): Promise<InvokeResult> => {
    const text = JSON.stringify(event ?? null)
    const size = Buffer.byteLength(text)
    if (size > MAX_PAYLOAD_BYTES) {
      const errorMessage = `${size} byte payload is too large for the RequestResponse invocation type (limit ${MAX_PAYLOAD_BYTES} bytes)`
      return { kind: 'error', error: { errorType: EVENT_TOO_LARGE, errorMessage } }
    }
    const result = await pool.invoke(model, text)
    if (result.kind === 'error' && !result.unstarted && !stopped) report(model, result)
    if (result.kind === 'value' && result.bytes > MAX_PAYLOAD_BYTES) {
      const errorMessage = `Response payload size exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`
      return { kind: 'error', error: { errorType: 'Function.ResponseSizeTooLarge', errorMessage } }
    }
    return result
  }

  return {
    models,
    find,
    get running() {
      return running
    },
    get threads() {
      return pool.threads
    },
    invoke: async (id, event) => {
      const model = known(id)
      running += 1
      notify()
      try {
        const chain = [...(interceptors.get(model) ?? [])].reduce<(event: unknown) => Promise<InvokeResult>>(
          (next, interceptor) => (given) => interceptor(given, next),
          (given) => run(model, given),
        )
        const result = await chain(event)
        options.onEnd?.({ model, event, result })
        return result
      } finally {
        running -= 1
        notify()
      }
    },
    intercept: (id, interceptor) => {
      const model = known(id)
      const set = interceptors.get(model) ?? new Set()
      interceptors.set(model, set)
      set.add(interceptor)
      return () => set.delete(interceptor)
    },
    warm: (id) => pool.warm(known(id)),
    reload: (id) => pool.reload(known(id)),
    shiftClock: (id, offsetMs) => pool.shiftClock(known(id), offsetMs),
    kill: (id) => pool.kill(known(id)),
    onActivity: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop: async () => {
      stopped = true
      await pool.stop()
    },
  }
}
