import { checkSendable, type FinalAnswer, failedWith, refusedWith } from './answer.ts'
import { PlatformError } from './client.ts'
import { AgentError, RunEnded, Suspended, UnsendableAnswer } from './errors.ts'
import type { ManifestLike } from './manifest.ts'
import { controlRun, type Run } from './run.ts'
import { type Clock, isSigned } from './verify.ts'
import type { RunExecute } from './webhooks.ts'

type Output = Record<string, unknown>
type Secret = string | readonly string[]

export interface AgentOptions<M extends ManifestLike> {
  /**
   * The app's signing secret, `agsec_…`; several while you rotate. It is read at the first request, so it may be missing where
   * the agent is only built, or come from a function.
   */
  secret: Secret | (() => Secret)
  /** Does the work. Its result is the run's output. Throw an `AgentError` to fail the run with a code of your own. */
  onRun(run: Run<M>): Promise<Output | undefined> | Output | undefined
  /** The agent's manifest, `as const`: it types settings and tools, and says whether the agent is called again after decisions. */
  manifest?: M | undefined
  /** Time after which a run is accepted with 202 and completed later, in ms. Default: 20,000. The platform waits 30 seconds. */
  answerWithin?: number | undefined
  /** Time between two looks at whether a run still goes on, in ms. Default: 15,000. 0 turns them off, and the renewal of idle tokens. */
  watchEvery?: number | undefined
  /** Learns of errors of the agent's own code. Default: `console.error`. */
  onError?: ((error: unknown, run: Run<M>) => void) | undefined
  /** Clock of the signature check. */
  clock?: Clock | undefined
}

/** Lets work go on after the response, on platforms that otherwise stop it. */
export interface Lifetime {
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

export interface Agent {
  /** Answers a request of the platform. Every adapter ends here. */
  fetch(request: Request, lifetime?: Lifetime): Promise<Response>
  /** Verifies a request and runs it to its end, however long it takes, and completes it through the API. */
  work(request: Request): Promise<Response>
  /** Verifies a request without running it. */
  verify(request: Request): Promise<boolean>
}

const MAX_BODY_BYTES = 4 * 1024 * 1024
/** Number of runs whose answers are kept, for requests that arrive again. */
const KEPT_RUNS = 1_000

/** Stands for "accepted": the run goes on, or was completed through the API. */
const ACCEPTED = Symbol('accepted')
type Outcome = FinalAnswer | typeof ACCEPTED

interface Job {
  outcome: Promise<Outcome>
  /** True once the work has ended. Until then, the job is kept whatever else arrives. */
  isOver(): boolean
  /** Marks the final answer for sending through the API, because the response is gone. @returns false if the answer is there already */
  answerLater(): boolean
}

/** Creates an agent from the function that does its work. */
export const createAgent = <const M extends ManifestLike = ManifestLike>(options: AgentOptions<M>): Agent => {
  const { answerWithin = 20_000, clock } = options
  const readSecret = (): Secret => {
    const secret = typeof options.secret === 'function' ? options.secret() : options.secret
    if (secret === undefined || secret.length === 0) {
      throw new TypeError('createAgent has no signing secret. Set the app’s secret (agsec_…) where the agent runs.')
    }
    return secret
  }
  /** By run and decision: a request that arrives again gets the same answer, and starts nothing. */
  const jobs = new Map<string, Job>()

  const jobFor = (request: RunExecute, traceparent: string | undefined): Job => {
    const key = `${request.run.id} ${request.resume?.step_id ?? ''}`
    const known = jobs.get(key)
    if (known) return known
    const job = startJob(options, request, traceparent)
    jobs.set(key, job)
    if (jobs.size > KEPT_RUNS) forgetOldest()
    return job
  }

  /** Forgets the oldest job that is over. One that still works must not begin a second time. */
  const forgetOldest = (): void => {
    for (const [key, job] of jobs) {
      if (job.isOver()) return void jobs.delete(key)
    }
  }

  const serve = async (request: Request, respond: (job: Job) => Promise<Outcome>): Promise<Response> => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } })
    const body = await readBody(request)
    if (!body) return new Response(null, { status: 413 })
    if (!(await isSigned(readSecret(), request.headers, body, clock))) {
      return Response.json({ error: 'The signature is missing, wrong or too old.' }, { status: 401 })
    }
    const execute = parse(body)
    if (execute?.type !== 'run.execute') return Response.json({ error: 'Not a run.execute request.' }, { status: 400 })
    const outcome = await respond(jobFor(execute, request.headers.get('traceparent') ?? undefined))
    return outcome === ACCEPTED ? new Response(null, { status: 202 }) : Response.json(outcome)
  }

  return {
    fetch: (request, lifetime) =>
      serve(request, async (job) => {
        const isLate = await isLateAfter(answerWithin, job)
        if (!isLate) return job.outcome
        lifetime?.waitUntil?.(job.outcome)
        return ACCEPTED
      }),
    work: (request) =>
      serve(request, (job) => {
        job.answerLater()
        return job.outcome
      }),
    async verify(request) {
      const body = await readBody(request)
      return body !== undefined && isSigned(readSecret(), request.headers, body, clock)
    },
  }
}

const startJob = <M extends ManifestLike>(
  { onRun, manifest, watchEvery = 15_000, onError }: AgentOptions<M>,
  request: RunExecute,
  traceparent: string | undefined,
): Job => {
  const { run, finish, isCompleted, watch, stop } = controlRun<M>(request, {
    resumes: manifest?.runtime?.resume === true,
    traceparent,
  })
  const report = onError ?? ((error: unknown) => console.error(`Run ${run.id} failed:`, error))
  let later = false
  let isDecided = false
  let isOver = false

  const execute = async (): Promise<Outcome> => {
    if (watchEvery > 0) watch(watchEvery)
    try {
      const output = await onRun(run)
      if (isCompleted()) return ACCEPTED
      const answer: FinalAnswer = { status: 'succeeded', ...(output && { output }) }
      checkSendable(answer)
      return answer
    } catch (error) {
      // A run that ended has nothing left to answer, and one that waits is sent again.
      if (error instanceof Suspended || error instanceof RunEnded || run.signal.aborted) return ACCEPTED
      if (error instanceof UnsendableAnswer) report(error, run)
      if (error instanceof AgentError) return failedWith(error)
      report(error, run)
      if (isCompleted()) return ACCEPTED
      return { status: 'failed', error_message: 'The agent failed unexpectedly.' }
    }
  }
  /** Ends the run through the API. If the platform refuses the answer, the run fails instead of going on until its deadline. */
  const finishLate = async (answer: FinalAnswer): Promise<void> => {
    try {
      await finish(answer)
    } catch (error) {
      if (!isRefusal(error)) throw error
      report(error, run)
      await finish(refusedWith(error))
    }
  }
  const deliver = async (): Promise<Outcome> => {
    try {
      const outcome = await execute()
      isDecided = true
      if (outcome === ACCEPTED || !later) return outcome
      await finishLate(outcome).catch((error: unknown) => {
        if (!(error instanceof RunEnded)) report(error, run)
      })
      return ACCEPTED
    } finally {
      isOver = true
      stop()
    }
  }
  return {
    // The request is answered before work begins that never yields.
    outcome: Promise.resolve().then(deliver),
    isOver: () => isOver,
    answerLater() {
      if (!isDecided) later = true
      return later
    },
  }
}

/** Reports whether the platform refused what was sent, and would refuse it again. */
const isRefusal = (error: unknown): boolean => error instanceof PlatformError && [400, 413, 422].includes(error.status)

/** Waits for the answer. Returns true if it isn't there in time, and is sent through the API instead. */
const isLateAfter = (ms: number, job: Job): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(job.answerLater()), ms)
    job.outcome.finally(() => {
      clearTimeout(timer)
      resolve(false)
    })
  })

/** Reads the body. Returns undefined if it is too large. */
const readBody = async (request: Request): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = request.body?.getReader()
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done) break
    length += value.length
    if (length > MAX_BODY_BYTES) {
      await reader?.cancel()
      return undefined
    }
    chunks.push(value)
  }
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}

const parse = (body: Uint8Array): RunExecute | undefined => {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}
