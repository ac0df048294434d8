import { setTimeout as pause } from 'node:timers/promises'
import { payloadBytes, RESPONSE_BYTES } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { idTime } from '#shared/kernel/ids.ts'
import { loadRun } from './change.ts'
import type { Run, Step } from './entity.ts'
import { durationOf, presentOutput, presentRunError, presentStep } from './present.ts'
import { isActive, type RunStatus } from './status.ts'
import { loadSteps } from './steps.ts'

type Reading = Pick<Deps, 'table' | 'objects' | 'settings'>

/** An event of a run's stream. A gap has no number, so readers that resume before it get it again. */
export interface RunEvent {
  /** Number in the stream, as text. */
  id?: string
  event: 'state' | 'step' | 'gap'
  data: object
}

/** Position of a reader that has seen nothing. Other readers are at the number of the last event they saw. */
export const STREAM_START = -1

/** Reports whether a reader at this position has seen everything. A late result may still change a step of an ended run. */
export const isOver = (run: Run, after: number): boolean => !isActive(run.status) && after === run.stream_seq

/**
 * Wait between two reads of a run: short while it changes, and until a model has had time for its first words; then up to a second.
 */
const SHORTEST = 150
const LONGEST = 1_000
const QUIET = 30_000

/**
 * Yields a run's events after a position as they happen, until the run has ended and all events are sent, or until
 * `signal`. Polls the record, and reads the steps only when its number has changed. Yields undefined if there is nothing
 * new.
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
  let newsAt = performance.now()
  for (let run = first; ; run = await loadRun(deps, first)) {
    const gap = gapOf(run, at)
    if (gap) yield gap
    if (at > run.stream_seq) at = STREAM_START
    const hasNews = at < run.stream_seq
    if (hasNews) {
      for (const load of newEvents(run, await loadSteps(deps, run.id, run), at)) {
        if (signal.aborted) return
        yield await load(deps)
      }
    } else yield undefined
    at = run.stream_seq
    if (!isActive(run.status)) return
    if (hasNews) newsAt = performance.now()
    wait = performance.now() - newsAt < QUIET ? SHORTEST : Math.min(wait * 1.3, LONGEST)
    if (!(await waited(wait, signal))) return
  }
}

/** Waits. @returns false if the signal interrupted it */
const waited = (ms: number, signal: AbortSignal): Promise<boolean> => pause(ms, true, { signal }).catch(() => false)

/**
 * Returns a gap if the reader may have missed events that are no longer available. A number that this run never used says
 * nothing about what the reader saw, so the stream starts over.
 */
const gapOf = (run: Run, at: number): RunEvent | undefined => {
  if (at > run.stream_seq) return { event: 'gap', data: { after: at, before: 1 } }
  if (run.transitions_lost === undefined || at >= run.transitions_lost) return undefined
  return { event: 'gap', data: { after: Math.max(0, at), before: run.transitions[0]?.seq } }
}

/**
 * Returns loaders of the events after a position, in the order of their numbers. Steps read after the run may be newer
 * than it. The next read returns those.
 */
const newEvents = (run: Run, steps: readonly Step[], at: number): ((deps: Reading) => Promise<RunEvent>)[] =>
  [
    ...steps.map((step) => ({ seq: step.stream_seq, load: (deps: Reading) => stepEvent(deps, step) })),
    ...(run.draft ? [{ seq: run.draft.stream_seq, load: async () => draftEvent(run, run.draft as Draft) }] : []),
    ...run.transitions.map(({ seq, status }) => ({ seq, load: (deps: Reading) => stateEvent(deps, run, seq, status) })),
  ]
    .filter(({ seq }) => seq > at && seq <= run.stream_seq)
    .sort((a, b) => a.seq - b.seq)
    .map(({ load }) => load)

/** Step as in `GET /runs/{id}`, which also omits an output that is too large for one response. */
const stepEvent = async (deps: Reading, step: Step): Promise<RunEvent> => {
  const bytes = payloadBytes(step.output)
  const shown =
    bytes <= RESPONSE_BYTES ? step : { ...step, output: { json: JSON.stringify({ truncated: true, bytes }) } }
  return { id: String(step.stream_seq), event: 'step', data: await presentStep(deps, shown) }
}

type Draft = NonNullable<Run['draft']>

/** The step that a model's turn will be, with the text so far. */
const draftEvent = ({ last_seq }: Run, { step_id, stream_seq, text }: Draft): RunEvent => ({
  id: String(stream_seq),
  event: 'step',
  data: {
    id: step_id,
    seq: last_seq + 1,
    type: 'message',
    status: 'running',
    output: { text },
    tool: null,
    created_at: iso(idTime(step_id)),
  },
})

/** State that the run entered. The final one includes the result. */
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
      error: presentRunError(deps, run),
      cost_units: run.cost_units ?? null,
      usage: run.usage ?? null,
    }),
  },
})
