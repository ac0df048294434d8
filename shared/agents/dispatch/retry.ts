import type { Version } from '#shared/catalogue/versions/index.ts'
import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import {
  changeRun,
  isActive,
  isWaitingForInput,
  nextCheckAt,
  type Run,
  runMessage,
  runWrite,
} from '#shared/work/runs/index.ts'

/** Pauses before the second and each further attempt. */
const PAUSES = [2 * SECOND, 8 * SECOND, 30 * SECOND, MINUTE]

/** Longest `Retry-After` that a run waits for: the longest delay of a queue's message. */
const LONGEST_PAUSE = 15 * MINUTE

/** The pauses are up to a quarter longer, so that runs that failed together don't come back together. */
const SPREAD = 0.25

/**
 * Returns the pause in ms before run.execute is sent again, or undefined if this result is final. Repeated is what an
 * agent hasn't seen or has turned away: no connection, 502 to 504, and 429 with `Retry-After`
 * (contract/runs.md#retries).
 */
export const pauseAfter = (result: OutgoingResult, attempt: number, now: number): number | undefined => {
  const pause = (PAUSES[attempt - 1] ?? MINUTE) * (1 + Math.random() * SPREAD)
  if (result.kind === 'failure') return result.sent || result.phase === 'blocked' ? undefined : pause
  const asked = retryAfterMs(result.headers['retry-after'], now)
  const isGone = result.status >= 502 && result.status <= 504
  if (!isGone && (result.status !== 429 || asked === undefined)) return undefined
  return asked !== undefined && asked > LONGEST_PAUSE ? undefined : Math.max(pause, asked ?? 0)
}

/** Reads `Retry-After` in either form: seconds or a date (RFC 9110 §10.2.3). */
const retryAfterMs = (value: string | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Number of the latest attempt to send the run's current message. */
export const attemptOf = ({ attempt = 1 }: Pick<Run, 'attempt'>): number => attempt

/** Tells from the record whether the run waits for another attempt, due or not. */
export const awaitsRetry = (run: Run): boolean =>
  run.status === 'running' && run.retry_at !== undefined && !isWaitingForInput(run)

/**
 * Schedules another attempt of the run after the pause, if its manifest allows another attempt and the run and its chain have the time.
 * A run that waits for a person in the meantime is sent after the decision or the answers.
 * @param still whether the run is as it was when the attempt failed
 * @param wake sends the message that brings the run back; the sweeper replaces a lost one
 * @returns false if the failure is final
 */
export const retryLater = async (
  work: Work,
  run: Run,
  { max_attempts = 1 }: Version,
  pauseMs: number,
  still: (current: Run) => boolean,
  wake: (run: Run, delayMs: number) => Promise<void>,
): Promise<boolean> => {
  if (attemptOf(run) >= max_attempts) return false
  const retry_at = Math.ceil(work.clock.now() + pauseMs)
  const scheduled = await changeRun(work, run, async (current) => {
    // Something else has happened to the run, so this failure says nothing about it anymore.
    if (!isActive(current.status) || current.dispatched_at !== run.dispatched_at || !still(current)) return 'settled'
    if (nextCheckAt(current, retry_at) !== retry_at) return 'late'
    const waits = current.status !== 'running' || isWaitingForInput(current)
    await work.commit([runWrite(current, { retry_at, ...(!waits && { due_at: retry_at }) })])
    return 'scheduled'
  })
  if (scheduled === 'scheduled') await wake(run, pauseMs)
  return scheduled !== 'late'
}

/** Sends the message that has a run dispatched, after the delay. */
export const wakeDispatcher = ({ queues }: Pick<WorkerWork, 'queues'>, run: Run, delayMs = 0): Promise<void> =>
  queues.send('dispatch', [{ ...runMessage(run), delayMs }])

/** Adds to the text of a final failure how often the run was sent, if that was more than once. */
export const withAttempts = (text: string, run: Run): string =>
  attemptOf(run) > 1 ? `${text} The run was sent ${attemptOf(run)} times.` : text
