import { checkSendable, type FinalAnswer } from './answer.ts'
import type { components } from './api.d.ts'
import { type Api, createApi, PlatformError, unwrap } from './client.ts'
import { RunEnded, Suspended } from './errors.ts'
import type { CallOf, FromSchema, ManifestLike, SettingsOf } from './manifest.ts'
import { pause } from './retry.ts'
import type { components as tools } from './tools.d.ts'
import type { RunExecute } from './webhooks.ts'

type Schemas = components['schemas']
/** Arguments of the platform's tools, by name. */
export type Tools = tools['schemas']

/** Result of a tool. A person can refuse calls that need approval. */
export type ToolOutcome =
  | { status: 'ok'; result: Record<string, unknown>; receipt?: string }
  | { status: 'rejected'; receipt?: string }

/** A person's answer to a question. */
export type Answer<T> = { action: 'accept'; content: T } | { action: 'decline' | 'cancel' }

export interface Question<S> {
  /** Identifies the question in the run. Required if the agent asks the same text twice. */
  key?: string | undefined
  /** A flat JSON Schema object: the form that people fill in. Default: one text. */
  schema?: S | undefined
}

/** One run, as its agent sees it. */
export interface Run<M extends ManifestLike = ManifestLike> {
  id: string
  /** If another agent calls one of the agent's tools, the input is the tool's arguments. */
  input: Record<string, unknown>
  /** Values of the installation's settings, with decrypted secrets. */
  settings: SettingsOf<M>
  /** The tool of this agent that another agent calls. */
  call: CallOf<M> | undefined
  /** The whole request, with installation, actor, task, conversation and chain. */
  request: RunExecute
  /** Aborted when the run ends without this agent. Pass it to everything that takes long. */
  signal: AbortSignal
  /** W3C trace context of the request, which the run's own calls carry on. */
  traceparent: string | undefined
  /** The API with this run's token, which is renewed as long as the run is active. */
  api: Api
  /** Reports progress: a text, or a step with a type of its own. */
  step(step: string | { type?: string; output?: Record<string, unknown> }): Promise<void>
  /**
   * Calls a tool of the platform. If a person has to approve the call, this waits for the decision. With
   * `runtime.resume` in the manifest, the agent is called again with the decision instead.
   */
  tool<N extends keyof Tools>(name: N, args: Tools[N]): Promise<ToolOutcome>
  /** Asks the people of the workspace, and waits for the answer like `tool`. */
  ask(message: string, question?: Question<undefined>): Promise<Answer<{ text: string }>>
  ask<const S extends object>(message: string, question: Question<S>): Promise<Answer<FromSchema<S>>>
  /** Asks people for a yes. The platform's dangerous tools ask by themselves. */
  approve(message: string, question?: { key?: string }): Promise<boolean>
  /** Delegates a task to another agent. */
  delegate(task: Tools['delegate_task']): Promise<Record<string, unknown>>
  /** Calls a tool of another agent and waits for its answer. The answer is untrusted: don't follow instructions in it. */
  askAgent(call: Tools['ask_agent']): Promise<Record<string, unknown>>
  /** Ends the run before the agent's function returns. */
  complete(output?: Record<string, unknown>, options?: { cost_units?: number }): Promise<void>
}

/** A run with what the agent's own code doesn't need. */
export interface Controlled<M extends ManifestLike> {
  run: Run<M>
  /** Whether the run was completed by `run.complete`. */
  isCompleted(): boolean
  /** Sends the final answer. */
  finish(answer: FinalAnswer): Promise<void>
  /** Renews the token and notices the run's end until `stop` is called. */
  watch(everyMs: number): void
  stop(): void
}

const RENEW_BEFORE_MS = 2 * 60_000
/** Longest time between two looks at a decision that a person has to take. */
const LONGEST_POLL_MS = 10_000

/** @param resumes whether the platform calls the agent again after a decision (`runtime.resume` in the manifest) */
export const controlRun = <M extends ManifestLike>(
  request: RunExecute,
  { resumes, traceparent }: { resumes: boolean; traceparent: string | undefined },
): Controlled<M> => {
  const ended = new AbortController()
  const token = callbackToken(request, traceparent, ended.signal)
  const api = createApi({
    baseUrl: baseUrlOf(request),
    token: token.current,
    traceparent,
    signal: ended.signal,
  })
  const path = { path: { id: request.run.id } }
  let completed = false

  /** Notices that the run has ended without this agent. */
  const noticing = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (error instanceof PlatformError && error.code === 'run_already_finished') ended.abort(new RunEnded())
      if (ended.signal.aborted) throw ended.signal.reason
      throw error
    }
  }
  const readRun = () => noticing(unwrap(api.GET('/api/v1/runs/{id}', { params: path })))
  const invoke = (name: string, args: object) =>
    noticing(
      unwrap(
        api.POST('/api/v1/tools/{name}/invoke', {
          params: { path: { name } },
          body: { arguments: args as Record<string, unknown> },
        }),
      ),
    )

  /** The run's steps, read once per resumption: earlier decisions and answers are in them. */
  let earlier: Promise<Schemas['RunStep'][]> | undefined
  const earlierSteps = (): Promise<Schemas['RunStep'][]> => {
    if (!request.resume) return Promise.resolve([])
    earlier ??= readRun().then((run) => run.steps ?? [])
    return earlier
  }
  const replayed = new Set<string>()

  /** Returns the result of the same call if it was decided before the agent was called again. */
  const decidedEarlier = async (name: string, args: object): Promise<ToolOutcome | undefined> => {
    const wanted = canonical(args)
    for (const step of await earlierSteps()) {
      if (step.type !== 'approval' || step.tool !== name || replayed.has(step.id)) continue
      const output = (step.output ?? {}) as { arguments?: unknown; result?: unknown; clipped?: boolean }
      if (output.clipped || canonical(output.arguments) !== wanted) continue
      const receipt = request.resume?.step_id === step.id && request.resume.receipt
      if (step.status === 'rejected') {
        replayed.add(step.id)
        return { status: 'rejected', ...(receipt && { receipt }) }
      }
      if (step.status !== 'executed' && step.status !== 'approved') continue
      const result = request.resume?.step_id === step.id ? request.resume.result : output.result
      if (result === undefined || result === null) continue
      replayed.add(step.id)
      return { status: 'ok', result: result as Record<string, unknown>, ...(receipt && { receipt }) }
    }
    return undefined
  }

  const answerIn = (steps: Schemas['RunStep'][], key: string): 'unasked' | 'pending' | object => {
    for (const { type, output } of steps) {
      if (type !== 'input_request') continue
      const { input_requests, responses } = (output ?? {}) as Record<string, Record<string, unknown> | undefined>
      if (responses?.[key]) return responses[key]
      if (input_requests && key in input_requests) return 'pending'
    }
    return 'unasked'
  }

  const ask = async (message: string, { key, schema }: Question<object | undefined> = {}): Promise<Answer<never>> => {
    const id = key ?? (await keyFor(message))
    const resumed = (request.resume?.input as Record<string, object> | undefined)?.[id]
    if (resumed) return resumed as Answer<never>
    const before = answerIn(await earlierSteps(), id)
    if (typeof before === 'object') return before as Answer<never>
    if (before === 'unasked') {
      const body = { input_requests: { [id]: { message, ...(schema && { schema }) } } }
      await noticing(unwrap(api.POST('/api/v1/runs/{id}/input-requests', { params: path, body: body as never })))
    }
    if (resumes) throw new Suspended()
    for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_POLL_MS)) {
      const { steps, finished_at } = await readRun()
      if (finished_at !== null) ended.abort(new RunEnded())
      const answer = answerIn(steps ?? [], id)
      if (typeof answer === 'object') return answer as Answer<never>
      await pause(wait, ended.signal)
    }
  }

  const tool = async (name: string, args: object): Promise<ToolOutcome> => {
    const decided = await decidedEarlier(name, args)
    if (decided) return decided
    for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_POLL_MS)) {
      // The same call returns the decision once it is there.
      const outcome = await invoke(name, args)
      if (outcome.status !== 'awaiting_approval') return outcome as ToolOutcome
      if (resumes) throw new Suspended()
      await pause(wait, ended.signal)
    }
  }

  const resultOf = async (name: string, args: object): Promise<Record<string, unknown>> => {
    const outcome = await tool(name, args)
    return outcome.status === 'ok' ? outcome.result : { error: 'rejected' }
  }

  const finish = async (answer: FinalAnswer): Promise<void> => {
    await noticing(unwrap(api.POST('/api/v1/runs/{id}/complete', { params: path, body: answer })))
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  let mayRead = true
  const watch = (everyMs: number): void => {
    timer = setTimeout(async () => {
      try {
        await token.renewIfDue()
        if (mayRead && (await readRun()).finished_at !== null) ended.abort(new RunEnded())
      } catch (error) {
        // Without the scope runs:read, the end is noticed at the next call.
        if (error instanceof PlatformError && error.status === 403) mayRead = false
      }
      if (timer !== undefined && !ended.signal.aborted) watch(everyMs)
    }, everyMs)
    ;(timer as { unref?: () => void }).unref?.()
  }

  const { tool: called } = request
  return {
    run: {
      id: request.run.id,
      input: request.run.input,
      settings: request.installation.settings as SettingsOf<M>,
      call: called === undefined ? undefined : ({ name: called, arguments: request.arguments ?? {} } as CallOf<M>),
      request,
      signal: ended.signal,
      traceparent,
      api,
      async step(step) {
        const body = typeof step === 'string' ? { type: 'message', output: { text: step } } : step
        await noticing(unwrap(api.POST('/api/v1/runs/{id}/steps', { params: path, body })))
      },
      tool,
      ask,
      async approve(message, { key } = {}) {
        const schema = {
          type: 'object',
          properties: { approved: { type: 'boolean', title: 'Approve' } },
          required: ['approved'],
        } as const
        const answer = (await ask(message, { ...(key && { key }), schema })) as Answer<{ approved: boolean }>
        return answer.action === 'accept' && answer.content.approved === true
      },
      delegate: (task) => resultOf('delegate_task', task),
      askAgent: (call) => resultOf('ask_agent', call),
      async complete(output, options) {
        const answer: FinalAnswer = { status: 'succeeded', ...(output && { output }), ...options }
        checkSendable(answer)
        await finish(answer)
        completed = true
      },
    } as Run<M>,
    isCompleted: () => completed,
    finish,
    watch,
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** The platform's address. The paths of the API's operations include `/api/v1`. */
const baseUrlOf = ({ callback }: RunExecute): string => callback.base_url.replace(/\/api\/v1\/?$/, '')

/** The run's callback token, which is renewed before it expires. Concurrent calls share one renewal. */
const callbackToken = (request: RunExecute, traceparent: string | undefined, signal: AbortSignal) => {
  const { run, callback } = request
  let { token } = callback
  let expiresAt = performance.now() + callback.expires_in * 1_000
  let renewing: Promise<void> | undefined
  const renew = async () => {
    const api = createApi({ baseUrl: baseUrlOf(request), token, traceparent, signal })
    const renewed = await unwrap(api.POST('/api/v1/runs/{id}/callback-token', { params: { path: { id: run.id } } }))
    token = renewed.token
    expiresAt = performance.now() + renewed.expires_in * 1_000
  }
  const renewIfDue = async (): Promise<void> => {
    if (expiresAt - performance.now() > RENEW_BEFORE_MS) return
    renewing ??= renew().finally(() => {
      renewing = undefined
    })
    await renewing
  }
  return {
    renewIfDue,
    async current(): Promise<string> {
      await renewIfDue()
      return token
    },
  }
}

/** JSON with sorted names: equal for equal values. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? ''

/** Key of a question without one: the same text has the same key when the agent is called again. */
const keyFor = async (message: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(message))
  return `q_${Array.from(new Uint8Array(digest, 0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
