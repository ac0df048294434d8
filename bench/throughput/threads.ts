import { type NodeWorker, type Profiler, Session } from 'node:inspector'

/** Sampling interval: short enough for work of a tenth of a second in total, long enough to cost little. */
const INTERVAL_US = 1_000

/** Profile of one thread. */
export interface ThreadProfile {
  profile: Profiler.Profile
  /** CPU of the thread, user and system, in milliseconds. */
  cpuMs: number
}

/** Threads of this process that were running when it was created: `main`, and each worker by its name. */
export interface Threads {
  /** Returns the milliseconds of CPU that each thread has used so far. */
  cpu(): Promise<Map<string, number>>
  /** Profiles some threads. A profiled thread uses CPU even when it is idle. */
  profileDuring(names: readonly string[], work: () => Promise<unknown>): Promise<ThreadProfile[]>
  close(): Promise<void>
}

interface Reply {
  id: number
  result?: unknown
  error?: { message: string }
}

type Post = (method: string, params?: object) => Promise<unknown>

export const openThreads = async (): Promise<Threads> => {
  const session = new Session()
  session.connect()
  const own: Post = (method, params = {}) =>
    new Promise((resolve, reject) => {
      session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)))
    })
  const threads = await attach(session, own)
  threads.set('main', own)
  return {
    cpu: async () => {
      const all = [...threads].map(async ([name, post]) => [name, await cpuOf(post)] as const)
      return new Map(await Promise.all(all))
    },
    profileDuring: async (names, work) => {
      const chosen = [...threads].flatMap(([name, post]) => (names.includes(name) ? [post] : []))
      const started = await Promise.all(
        chosen.map(async (post) => {
          await post('Profiler.enable')
          await post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
          await post('Profiler.start')
          return { post, cpuMs: await cpuOf(post) }
        }),
      )
      await work()
      return Promise.all(
        started.map(async ({ post, cpuMs: before }) => {
          const cpuMs = (await cpuOf(post)) - before
          const { profile } = (await post('Profiler.stop')) as { profile: Profiler.Profile }
          return { profile, cpuMs }
        }),
      )
    },
    close: async () => {
      await own('NodeWorker.disable')
      session.disconnect()
    },
  }
}

/** Reads the CPU in the thread itself, because other threads can't. */
const cpuOf = async (post: Post): Promise<number> => {
  const expression = '(({ user, system }) => (user + system) / 1000)(process.threadCpuUsage())'
  const { result } = (await post('Runtime.evaluate', { expression })) as { result: { value: number } }
  return result.value
}

/** Connects to each worker thread through this thread's session. */
const attach = async (session: Session, own: Post): Promise<Map<string, Post>> => {
  const threads = new Map<string, Post>()
  const waiting = new Map<string, (reply: Reply) => void>()
  let id = 0
  session.on('NodeWorker.attachedToWorker', ({ params }: { params: NodeWorker.AttachedToWorkerEventDataType }) => {
    const { sessionId, workerInfo } = params
    threads.set(workerInfo.title.replace(/^\[worker \d+\] /, ''), (method, given = {}) => {
      id += 1
      const message = { id, method, params: given }
      return new Promise((resolve, reject) => {
        waiting.set(`${sessionId} ${message.id}`, ({ result, error }) =>
          error ? reject(new Error(error.message)) : resolve(result),
        )
        own('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify(message) }).catch(reject)
      })
    })
  })
  session.on(
    'NodeWorker.receivedMessageFromWorker',
    ({ params }: { params: NodeWorker.ReceivedMessageFromWorkerEventDataType }) => {
      const reply = JSON.parse(params.message) as Reply
      const key = `${params.sessionId} ${reply.id}`
      waiting.get(key)?.(reply)
      waiting.delete(key)
    },
  )
  await own('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return threads
}
