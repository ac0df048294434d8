import { setTimeout as pause } from 'node:timers/promises'
import { isActive, type Run, type RunStatus, type Step } from '../../entities/runs.ts'
import { iso } from '../../kernel/clock.ts'
import { ANSWER_BYTES, payloadBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'
import { loadRun } from './change.ts'
import { durationOf, presentOutput, presentStep } from './present.ts'
import { stepsOf } from './read.ts'

type Reading = Pick<Deps, 'table' | 'objects'>

/** Something that a run's stream shows. A gap has no number: whoever resumes before it is told of it again. */
export interface RunEvent {
  /** Its number, as text. */
  id?: string
  event: 'state' | 'step' | 'gap'
  data: object
}

/** Where a reader stands that has seen nothing yet; others stand at the number of the last event they saw. */
export const START = -1

/** The greatest number that a run's stream has given out. Records older than streams have none: all they hold is 0. */
const lastOf = ({ stream_seq = 0 }: Run): number => stream_seq

const statesOf = ({ transitions, status }: Run) => transitions ?? [{ seq: 0, status }]

/** Has a reader who stands there seen everything? A late result may still move a step of a run that has ended. */
export const isOver = (run: Run, after: number): boolean => !isActive(run.status) && after === lastOf(run)

/** The wait between two looks at a run: short while it moves, up to a second while it is quiet. */
const SHORTEST = 300
const LONGEST = 1_000

/**
 * A run's events behind a position as they happen, until the run has ended and all is told, or until `signal`. Polls the
 * record, and reads the steps only when its number has moved. A look that found nothing gives undefined, so that the
 * connection can be kept awake.
 * @param first the run as it was just read
 */
export async function* runEvents(
  deps: Reading,
  first: Run,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent | undefined> {
  let at = after
  let wait = SHORTEST
  for (let run = first; ; run = await loadRun(deps, first)) {
    const gap = gapOf(run, at)
    if (gap) yield gap
    if (at > lastOf(run)) at = START
    const moved = at < lastOf(run)
    if (moved) {
      for (const load of newsOf(run, await stepsOf(deps, run.id), at)) {
        if (signal.aborted) return
        yield await load(deps)
      }
    } else yield undefined
    at = lastOf(run)
    if (!isActive(run.status)) return
    wait = moved ? SHORTEST : Math.min(wait * 1.3, LONGEST)
    if (!(await slept(wait, signal))) return
  }
}

/** @returns whether the time passed; not so when the signal came first */
const slept = (ms: number, signal: AbortSignal): Promise<boolean> => pause(ms, true, { signal }).catch(() => false)

/**
 * What a reader may have missed that cannot be told any more. A number that this run has not given out says nothing of
 * what its reader saw: everything follows from the beginning.
 */
const gapOf = (run: Run, at: number): RunEvent | undefined => {
  if (at > lastOf(run)) return { event: 'gap', data: { after: at, before: 1 } }
  if (run.transitions_lost === undefined || at >= run.transitions_lost) return undefined
  return { event: 'gap', data: { after: Math.max(0, at), before: statesOf(run)[0]?.seq } }
}

/**
 * What is new behind a position, in the order of the numbers. Steps that were read after the run may be ahead of it; they
 * are left to the next look.
 */
const newsOf = (run: Run, steps: readonly Step[], at: number): ((deps: Reading) => Promise<RunEvent>)[] =>
  [
    ...steps.map((step) => ({ seq: step.stream_seq ?? 0, load: (deps: Reading) => stepEvent(deps, step) })),
    ...statesOf(run).map(({ seq, status }) => ({ seq, load: (deps: Reading) => stateEvent(deps, run, seq, status) })),
  ]
    .filter(({ seq }) => seq > at && seq <= lastOf(run))
    .sort((a, b) => a.seq - b.seq)
    .map(({ load }) => load)

/** A step as `GET /runs/{id}` shows it; an output too large for one answer is left out there, too. */
const stepEvent = async (deps: Reading, step: Step): Promise<RunEvent> => {
  const bytes = payloadBytes(step.output)
  const shown = bytes <= ANSWER_BYTES ? step : { ...step, output: { json: JSON.stringify({ truncated: true, bytes }) } }
  return { id: String(step.stream_seq ?? 0), event: 'step', data: await presentStep(deps, shown) }
}

/** A state that the run entered; the last one with what came out. */
const stateEvent = async (deps: Reading, run: Run, seq: number, status: RunStatus): Promise<RunEvent> => ({
  id: String(seq),
  event: 'state',
  data: {
    run_id: run.id,
    status,
    app_id: run.app_id,
    installation_id: run.installation_id,
    agent: { id: run.agent_id, version: run.version },
    trigger: run.trigger,
    created_at: iso(run.created_at),
    started_at: status === 'queued' || run.started_at === undefined ? null : iso(run.started_at),
    ...(!isActive(status) && {
      finished_at: run.finished_at === undefined ? null : iso(run.finished_at),
      duration_ms: durationOf(run) ?? null,
      output: await presentOutput(deps, run),
      error_code: run.error_code ?? null,
      error_message: run.error_message ?? null,
      cost_units: run.cost_units ?? null,
    }),
  },
})
