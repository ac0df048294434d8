import { setTimeout as pause } from 'node:timers/promises'
import type { Work } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { type NewRun, newRun, type PreparedRun } from '#shared/work/runs/index.ts'

/** Pauses in ms between two checks of a run that somebody waits for. */
export interface Pauses {
  first: number
  /** Factor by which each is longer than the one before. */
  growth: number
  longest: number
}

/** An agent's request that this process has sent, and whose answer it applies to the run. */
export interface OpenRequest {
  /** Resolves when the answer is applied, or the request was left to others. */
  over: Promise<void>
  /** Ends the request, because the run has ended otherwise. */
  drop(): void
}

/** A new run. */
export interface PreparedInPlace extends PreparedRun {
  /** Sends the run to its agent, once its writes are committed. Absent if the dispatcher sends it. */
  send?(): OpenRequest
}

/** Creates a run that the request sends to its agent itself, if it can, and its writes. */
export type PrepareInPlace = (work: Work, start: NewRun) => Promise<PreparedInPlace>

/** Creates a run and its writes. @param inPlace absent if the dispatcher sends it in any case */
export const prepareRun = (inPlace: PrepareInPlace | undefined, work: Work, start: NewRun): Promise<PreparedInPlace> =>
  inPlace ? inPlace(work, start) : newRun(work, start)

/** Pause while the agent's request is open in this process: only others can end the run meanwhile. */
const WHILE_OPEN = SECOND

/**
 * Paces the checks of a run that a request waits for.
 * @param open the agent's request, if this process has sent it. Once it is over, the run is worth a check
 */
export const paceChecks = ({ first, growth, longest }: Pauses, open?: OpenRequest) => {
  let next = first
  let isOpen = open !== undefined
  const closed = open?.over.then(() => {
    isOpen = false
  })
  return {
    /** Begins with the shortest pause again, because the run has changed. */
    restart: (): void => {
      next = first
    },
    /** Waits for the next check. @param most ms left */
    pause: async (most: number, signal?: AbortSignal): Promise<void> => {
      const timer = new AbortController()
      const stop = signal ? AbortSignal.any([signal, timer.signal]) : timer.signal
      const ms = isOpen ? WHILE_OPEN : next
      if (!isOpen) next = Math.min(next * growth, longest)
      const paused = pause(Math.max(0, Math.min(ms, most)), undefined, { signal: stop }).catch(() => {})
      await (isOpen ? Promise.race([closed, paused]) : paused)
      timer.abort()
    },
  }
}
