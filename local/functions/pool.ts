import type { FunctionModel } from '../template/model.ts'
import type { Instance, InvokeResult } from './instance.ts'
import type { FunctionError } from './protocol.ts'

/** Limits on all functions' threads together. */
export interface PoolLimits {
  /** Maximum number of live threads. When another function is invoked, the thread idle for longest ends. */
  maxThreads?: number | undefined
  /** Idle time after which a thread ends. */
  idleThreadMs?: number | undefined
}

/** The threads in which functions run: one per function, started at its first use. */
export interface Pool {
  /** @param event as JSON text */
  invoke(model: FunctionModel, event: string): Promise<InvokeResult>
  /** Starts the function's thread. Resolves once its bundle is loaded. */
  warm(model: FunctionModel): Promise<void>
  reload(model: FunctionModel): void
  shiftClock(model: FunctionModel, offsetMs: number): void
  kill(model: FunctionModel): Promise<void>
  /** Live threads, busy or idle. */
  readonly threads: number
  stop(): Promise<void>
}

/** Number of threads that fit into about 600 MB together with the main thread. */
const MAX_THREADS = 16
const IDLE_THREAD_MS = 60_000
/** Pauses between starts that fail. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** Loading a bundle only uses CPU. A burst of first requests is served soonest if few bundles load at a time. */
const MAX_LOADING = 2

/** Runs tasks, at most `limit` at a time, in the order they came. */
const createQueue = (limit: number) => {
  const waiting: (() => void)[] = []
  let active = 0
  return {
    enter: async () => {
      if (active >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
      else active += 1
    },
    leave: () => {
      const next = waiting.shift()
      if (next) next()
      else active -= 1
    },
  }
}

/**
 * Creates an empty pool. The limit on threads is soft: if all threads are busy, another function still gets its thread,
 * because a function may wait for another.
 *
 * @param start starts a function's thread
 * @param onUnstartable called once for starts that fail for the same reason
 */
export const createPool = (
  start: (model: FunctionModel) => Instance,
  limits: PoolLimits,
  onUnstartable: (model: FunctionModel, error: FunctionError) => void,
): Pool => {
  const { maxThreads = MAX_THREADS, idleThreadMs = IDLE_THREAD_MS } = limits
  const current = new Map<FunctionModel, Instance>()
  const starting = new Map<FunctionModel, Promise<Instance>>()
  const offsets = new Map<FunctionModel, number>()
  /** Functions whose last start failed. Until the pause is over, they answer with that error. */
  const failed = new Map<FunctionModel, { count: number; error: FunctionError; until: number }>()
  /** Replaced instances that are still busy. */
  const retired = new Set<Instance>()
  const loading = createQueue(MAX_LOADING)
  let stopped = false

  const retire = (model: FunctionModel, instance: Instance) => {
    current.delete(model)
    if (instance.busy > 0) retired.add(instance)
    instance.retire()
  }

  const idleThreads = () => [...current].filter(([, { idle }]) => idle).sort(([, a], [, b]) => a.usedAt - b.usedAt)

  const sweep = () => {
    for (const instance of retired) if (instance.busy === 0) retired.delete(instance)
    for (const [model, instance] of idleThreads()) {
      if (!instance.usable || performance.now() - instance.usedAt >= idleThreadMs) retire(model, instance)
    }
  }
  const sweeping = setInterval(sweep, Math.min(idleThreadMs / 4, 5_000))
  sweeping.unref()

  const makeRoom = () => {
    for (const [model, instance] of idleThreads().slice(0, Math.max(0, current.size - maxThreads + 1)))
      retire(model, instance)
  }

  /** Counts starts that fail in a row, and reports the first of them. */
  const noteStart = (model: FunctionModel, error: FunctionError | undefined) => {
    const before = failed.get(model)
    if (!error) return void failed.delete(model)
    const count = (before?.count ?? 0) + 1
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS)
    failed.set(model, { count, error, until: performance.now() + pause })
    if (before?.error.errorMessage !== error.errorMessage) onUnstartable(model, error)
  }

  const begin = async (model: FunctionModel): Promise<Instance> => {
    await loading.enter()
    starting.delete(model)
    if (stopped) {
      loading.leave()
      throw new Error('The local run is stopping')
    }
    const before = current.get(model)
    if (before) retire(model, before)
    makeRoom()
    let instance: Instance
    try {
      instance = start(model)
    } catch (error) {
      loading.leave()
      noteStart(model, { errorType: 'Runtime.ExitError', errorMessage: String(error) })
      throw error
    }
    void instance.ready.then((error) => {
      loading.leave()
      noteStart(model, error)
    })
    const offset = offsets.get(model)
    if (offset !== undefined) instance.shiftClock(offset)
    current.set(model, instance)
    return instance
  }

  const instanceOf = async (model: FunctionModel): Promise<Instance> => {
    const existing = current.get(model)
    if (existing?.usable) return existing
    const begun = starting.get(model) ?? begin(model)
    starting.set(model, begun)
    return begun
  }

  return {
    invoke: async (model, event) => {
      let instance: Instance
      do {
        const before = failed.get(model)
        if (before && performance.now() < before.until) return { kind: 'error', error: before.error, unstarted: true }
        instance = await instanceOf(model)
        // As on Lambda, the timeout doesn't include loading the function.
        const error = await instance.ready
        if (error && !stopped) return { kind: 'error', error, unstarted: true }
        // Another function's start may have ended this thread in the meantime.
      } while (!instance.usable)
      return instance.invoke(event, model.timeoutSeconds * 1_000)
    },
    warm: async (model) => {
      const before = failed.get(model)
      if (!before || performance.now() >= before.until) await (await instanceOf(model)).ready
    },
    reload: (model) => {
      failed.delete(model)
      const instance = current.get(model)
      if (instance) retire(model, instance)
    },
    shiftClock: (model, offsetMs) => {
      offsets.set(model, offsetMs)
      current.get(model)?.shiftClock(offsetMs)
    },
    kill: async (model) => {
      await current.get(model)?.kill()
    },
    get threads() {
      return current.size + [...retired].filter(({ busy }) => busy > 0).length
    },
    stop: async () => {
      stopped = true
      clearInterval(sweeping)
      await Promise.all([...current.values(), ...retired].map((instance) => instance.kill()))
    },
  }
}
