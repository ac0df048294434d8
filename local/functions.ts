import { type Instance, type InvokeResult, startInstance } from './functions/instance.ts'
import type { FunctionModel } from './template/model.ts'

export type { InvokeResult } from './functions/instance.ts'

/** A line that a function printed. */
export interface FunctionLine {
  functionName: string
  line: string
}

/** Stands between a source and a function: may change the event, the result, call twice or not at all. */
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
  /** @returns a function that takes the interceptor off again */
  intercept(id: string, interceptor: InvokeInterceptor): () => void
  /** Starts a function's thread ahead of its first use. Resolves once its bundle is loaded. */
  warm(id: string): Promise<void>
  /** The bundle changed: what runs ends in the old thread, what comes runs in a new one. */
  reload(id: string): void
  /** Sets a function's clock so many milliseconds off, in the thread that runs and in those to come. */
  shiftClock(id: string, offsetMs: number): void
  /** Ends the thread at once, in the middle of whatever it does. */
  kill(id: string): Promise<void>
  /** Told when an invocation begins or ends: something may have been written. */
  onActivity(listener: () => void): () => void
  readonly running: number
  stop(): Promise<void>
}

/** Lambda takes and gives at most this much in one piece. */
export const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024

/**
 * Makes the functions callable. Threads start at the first use; several invocations share one, since the platform's
 * handlers wait far more than they compute.
 *
 * @param options.environment the whole environment of a function
 * @param options.onLine told what functions print
 */
export const createFunctions = (options: {
  models: FunctionModel[]
  environment: (model: FunctionModel) => Record<string, string>
  onLine: (line: FunctionLine) => void
  /** Told when an invocation has ended. */
  onEnd?: (end: { model: FunctionModel; event: unknown; result: InvokeResult }) => void
}): Functions => {
  const { models } = options
  const current = new Map<FunctionModel, Instance>()
  const retired = new Set<Instance>()
  const offsets = new Map<FunctionModel, number>()
  const interceptors = new Map<FunctionModel, Set<InvokeInterceptor>>()
  const listeners = new Set<() => void>()
  let running = 0
  let stopped = false

  const find = (id: string) =>
    models.find(({ name, logicalId, functionName, arn }) => [name, logicalId, functionName, arn].includes(id))

  const known = (id: string): FunctionModel => {
    const model = find(id)
    if (!model) throw new Error(`There is no function ${id}. There are: ${models.map(({ name }) => name).join(', ')}`)
    return model
  }

  const instanceOf = (model: FunctionModel): Instance => {
    const existing = current.get(model)
    if (existing?.usable) return existing
    for (const old of retired) if (old.busy === 0) retired.delete(old)
    if (existing && existing.busy > 0) retired.add(existing)
    if (stopped) throw new Error('The local run is stopping')
    const instance = startInstance(model, options.environment(model), (line) =>
      options.onLine({ functionName: model.name, line }),
    )
    const offset = offsets.get(model)
    if (offset !== undefined) instance.shiftClock(offset)
    current.set(model, instance)
    return instance
  }

  const notify = () => {
    for (const listener of listeners) listener()
  }

  /** As Lambda's runtime logs an error that a handler lets through. */
  const report = (model: FunctionModel, { error }: Extract<InvokeResult, { kind: 'error' }>) => {
    const { errorType: name, errorMessage: message, trace } = error
    const line = JSON.stringify({ level: 'ERROR', message: 'Invoke Error', error: { name, message, stack: trace } })
    options.onLine({ functionName: model.name, line })
  }

  const run = async (model: FunctionModel, event: unknown): Promise<InvokeResult> => {
    const size = Buffer.byteLength(JSON.stringify(event) ?? '')
    if (size > MAX_PAYLOAD_BYTES) {
      const errorMessage = `${size} byte payload is too large for the RequestResponse invocation type (limit ${MAX_PAYLOAD_BYTES} bytes)`
      return { kind: 'error', error: { errorType: 'RequestEntityTooLargeException', errorMessage } }
    }
    const result = await instanceOf(model).invoke(event, model.timeoutSeconds * 1_000)
    if (result.kind === 'error' && !stopped) report(model, result)
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
    warm: (id) => instanceOf(known(id)).ready,
    reload: (id) => {
      const model = known(id)
      const instance = current.get(model)
      if (!instance) return
      current.delete(model)
      if (instance.busy > 0) retired.add(instance)
      instance.retire()
    },
    shiftClock: (id, offsetMs) => {
      const model = known(id)
      offsets.set(model, offsetMs)
      current.get(model)?.shiftClock(offsetMs)
    },
    kill: async (id) => {
      await current.get(known(id))?.kill()
    },
    onActivity: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop: async () => {
      stopped = true
      await Promise.all([...current.values(), ...retired].map((instance) => instance.kill()))
    },
  }
}
