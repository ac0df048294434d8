import { DAY, HOUR, SECOND } from '#shared/kernel/clock.ts'

/**
 * The contract's rules for a run's life (contract/runs.md#states) as plain data and functions, written independently of
 * the platform's code. Times are in epoch ms.
 */
export interface Model {
  runs: ModelRun[]
  /** The agent's manifest enables `runtime.resume`. */
  resume: boolean
  stepsPerRun: number
}

/** Behaviour of the called agent. Some scripts act through the API before they answer. */
export const SCRIPTS = [
  'succeeds',
  'fails',
  'accepts',
  'garbage',
  'answers 500',
  'unreachable',
  'worker lost',
  'completes, then succeeds',
  'completes, then accepts',
  'is cancelled, then succeeds',
  'asks, then succeeds',
  'asks, then accepts',
  'reports, then worker lost',
] as const
export type Script = (typeof SCRIPTS)[number]

/** Calls that need approval. The worker that executes `lost` dies while it does. */
export const CALLS = ['a', 'b', 'lost'] as const
export type Call = (typeof CALLS)[number]

type Status = 'queued' | 'running' | 'awaiting_approval' | 'succeeded' | 'failed' | 'cancelled'

interface ModelStep {
  seq: number
  type: 'message' | 'approval'
  status: string
  tool: string | null
}

interface ModelApproval {
  seq: number
  /** Known after the run has been read. */
  id?: string
  call: Call
  status: 'pending' | 'approved' | 'executing' | 'executed' | 'rejected' | 'voided'
  asked: number
  executing?: number
  consumed: boolean
  /** The agent was called again with the decision. */
  resumed: boolean
}

export interface ModelRun {
  id: string
  status: Status
  agent: Script
  onResume: Script
  dispatched?: number
  accepted?: number
  /** The agent's last sign of life. */
  alive: number
  ended?: number
  steps: ModelStep[]
  /** The agent chose a step's number itself. */
  numbered: boolean
  approvals: ModelApproval[]
  /** Types with what distinguishes them, in the order of the changes; a trailing `?` may be missing. */
  events: string[]
  error_code: string | null
  output: object | null
}

export const isActive = ({ status }: ModelRun): boolean =>
  status === 'queued' || status === 'running' || status === 'awaiting_approval'

export const newRun = (id: string, agent: Script, onResume: Script): ModelRun => ({
  id,
  status: 'queued',
  agent,
  onResume,
  alive: 0,
  steps: [],
  numbered: false,
  approvals: [],
  events: ['run.created'],
  error_code: null,
  output: null,
})

export const pendingOf = (run: ModelRun): ModelApproval | undefined =>
  run.approvals.find(({ status }) => status === 'pending')

/** Returns the latest approval of a call that its agent can still use. */
export const usableApprovalOf = (run: ModelRun, call: Call): ModelApproval | undefined => {
  const latest = run.approvals.findLast((one) => one.call === call)
  return latest && !latest.consumed && latest.status !== 'voided' ? latest : undefined
}

/** An operation on a run. */
export type Op =
  | { kind: 'complete'; status: 'succeeded' | 'failed'; steps: NewStep[] }
  | { kind: 'cancel' }
  | { kind: 'steps'; steps: NewStep[] }
  | { kind: 'ask'; call: Call }
  /** Decides the n-th approval; without it, the pending one. */
  | { kind: 'decide'; which?: number | undefined; decision: 'approve' | 'reject' }
  | { kind: 'renew' }

export interface NewStep {
  seq?: number | undefined
}

/** Applies an operation. @returns the answer's status and, if it has one, its code or the tool's status */
export const apply = (model: Model, run: ModelRun, op: Op, now: number): string => {
  if (op.kind === 'decide') return decide(run, op, now)
  if (!isActive(run)) return '409 run_already_finished'
  if (op.kind === 'cancel') return finish(run, { status: 'cancelled' }, now)
  if (run.status === 'queued') return '409 conflict'
  if (op.kind === 'renew') {
    run.alive = now
    return '200'
  }
  switch (op.kind) {
    case 'steps': {
      const refused = addSteps(model, run, op.steps)
      if (refused) return refused
      run.alive = now
      return '201'
    }
    case 'complete': {
      const refused = addSteps(model, run, op.steps)
      if (refused) return refused
      return op.status === 'succeeded'
        ? finish(run, { status: 'succeeded', output: { by: 'complete' } }, now)
        : finish(run, { status: 'failed', error_code: 'by_complete' }, now)
    }
    case 'ask':
      return ask(model, run, op.call, now)
  }
}

const addSteps = (model: Model, run: ModelRun, steps: readonly NewStep[]): string | undefined => {
  if (run.steps.length + steps.length > model.stepsPerRun) return '403 too_many_steps'
  const taken = new Set(run.steps.map(({ seq }) => seq))
  const added: ModelStep[] = []
  let last = Math.max(0, ...taken)
  for (const { seq = last + 1 } of steps) {
    if (taken.has(seq)) return '409 step_write_conflict'
    taken.add(seq)
    last = Math.max(last, seq)
    added.push({ seq, type: 'message', status: 'done', tool: null })
  }
  run.steps.push(...added)
  run.numbered ||= steps.some(({ seq }) => seq !== undefined)
  return undefined
}

const ask = (model: Model, run: ModelRun, call: Call, now: number): string => {
  const standing = usableApprovalOf(run, call)
  if (standing?.status === 'pending') return '200 awaiting_approval'
  if (standing) {
    standing.consumed = true
    return standing.status === 'rejected' ? '200 rejected' : '200 ok'
  }
  if (pendingOf(run)) return '409 conflict'
  if (run.steps.length + 1 > model.stepsPerRun) return '403 too_many_steps'
  const seq = Math.max(0, ...run.steps.map((step) => step.seq)) + 1
  run.steps.push({ seq, type: 'approval', status: 'pending', tool: 'http_fetch' })
  run.approvals.push({ seq, call, status: 'pending', asked: now, consumed: false, resumed: false })
  run.events.push('run.awaiting_approval')
  run.status = 'awaiting_approval'
  run.alive = now
  return '200 awaiting_approval'
}

export const approvalOf = (run: ModelRun, which: number | undefined): ModelApproval | undefined =>
  which === undefined ? (pendingOf(run) ?? run.approvals.at(-1)) : run.approvals[which]

const decide = (run: ModelRun, { which, decision }: Extract<Op, { kind: 'decide' }>, now: number): string => {
  const approval = approvalOf(run, which)
  if (!approval) return '404 not_found'
  if (approval.status === 'voided') return '409 run_already_finished'
  if (approval.status !== 'pending') return '409 approval_already_decided'
  const approved = decision === 'approve'
  mark(run, approval, approved ? 'approved' : 'rejected')
  run.events.push(approved ? 'approval.decided' : 'run.resumed rejected')
  run.status = 'running'
  run.alive = now
  return '200'
}

const mark = (run: ModelRun, approval: ModelApproval, status: ModelApproval['status']): void => {
  approval.status = status
  const step = run.steps.find(({ seq }) => seq === approval.seq)
  // The step doesn't show that it is being executed.
  if (step && status !== 'executing') step.status = status
}

interface End {
  status: 'succeeded' | 'failed' | 'cancelled'
  output?: object
  error_code?: string
}

const finish = (run: ModelRun, { status, output, error_code }: End, now: number): string => {
  const pending = pendingOf(run)
  if (pending) mark(run, pending, 'voided')
  run.status = status
  run.output = output ?? null
  run.error_code = error_code ?? null
  run.ended = now
  run.events.push(`run.${status}`)
  return '200'
}

/** Returns the script of the agent's call that a message to the dispatcher causes; undefined for no call. */
export const scriptOf = (model: Model, run: ModelRun, stepId: string | undefined): Script | undefined => {
  if (stepId === undefined) return run.status === 'queued' ? run.agent : undefined
  const approval = run.approvals.find(({ id }) => id === stepId)
  return model.resume && run.status === 'running' && approval?.resumed === false ? run.onResume : undefined
}

/** Records that the agent is called. */
export const recordCall = (run: ModelRun, stepId: string | undefined, now: number): void => {
  const approval = run.approvals.find(({ id }) => id === stepId)
  if (approval) approval.resumed = true
  run.status = 'running'
  run.dispatched = now
  delete run.accepted
}

/** Records the agent's answer, after its actions through the API. The first final answer wins. */
export const recordAnswer = (model: Model, run: ModelRun, script: Script, now: number): void => {
  if (!isActive(run)) return
  if (script.endsWith('succeeds')) {
    const refused = addSteps(model, run, [{}, {}])
    if (refused) finish(run, { status: 'failed', error_code: 'agent_invalid_response' }, now)
    else finish(run, { status: 'succeeded', output: { by: 'answer' } }, now)
  } else if (script === 'fails') finish(run, { status: 'failed', error_code: 'by_answer' }, now)
  else if (script === 'garbage') finish(run, { status: 'failed', error_code: 'agent_invalid_response' }, now)
  else if (script === 'answers 500' || script === 'unreachable') {
    finish(run, { status: 'failed', error_code: 'agent_unreachable' }, now)
  } else if (script.endsWith('accepts')) run.accepted = now
}

/**
 * Handles a message to the worker of approved calls.
 * @returns whether it executes the call: at most once, and never after the run's end
 */
export const handleApprovedCall = (run: ModelRun, stepId: string, now: number): boolean => {
  const approval = run.approvals.find(({ id }) => id === stepId)
  if (approval?.status !== 'approved') return false
  if (!isActive(run)) {
    mark(run, approval, 'voided')
    return false
  }
  mark(run, approval, 'executing')
  approval.executing = now
  if (approval.call !== 'lost') executed(run, approval)
  return true
}

const executed = (run: ModelRun, approval: ModelApproval): void => {
  mark(run, approval, 'executed')
  if (isActive(run)) run.events.push('run.resumed approved')
}

/** Applies the sweep, which does everything that depends on time alone. */
export const sweep = (model: Model, now: number): void => {
  for (const run of model.runs) {
    const pending = pendingOf(run)
    if (pending && now - pending.asked >= DAY) decide(run, { kind: 'decide', decision: 'reject' }, now)
    const error_code = silence(run, now)
    for (const approval of run.approvals) {
      if (approval.status !== 'executing' || now - (approval.executing ?? now) < 60 * SECOND) continue
      const before = run.events.length
      executed(run, approval)
      // Both are due in the same sweep, so either may come first.
      if (error_code && run.events.length > before) run.events.push(`${run.events.pop()}?`)
    }
    if (error_code) finish(run, { status: 'failed', error_code }, now)
  }
}

const silence = (run: ModelRun, now: number): string | undefined => {
  if (run.status !== 'running' || run.dispatched === undefined) return undefined
  const life = Math.max(run.alive, run.accepted ?? 0)
  if (life <= run.dispatched) return now - run.dispatched >= 45 * SECOND ? 'agent_unreachable' : undefined
  return now - life >= HOUR ? 'agent_timeout' : undefined
}

/** Returns the run as the API shows it. */
export const view = (run: ModelRun) => ({
  status: run.status,
  error_code: run.error_code,
  output: run.output,
  steps: run.steps.toSorted((a, b) => a.seq - b.seq),
  started: run.dispatched !== undefined,
  finished: run.ended !== undefined,
})
