import { MINUTE } from '#shared/kernel/clock.ts'
import { nextTime } from '#shared/kernel/schedules/index.ts'
import { isTimed, type Schedule } from './entity.ts'

type Timing = Pick<Schedule, 'when' | 'anchor' | 'ends_at'>

/** Returns the next time after `after` at which a schedule falls due. None from its end on, and none if events start it. */
export const nextAfter = ({ when, anchor, ends_at }: Timing, after: number): number | undefined => {
  const next = isTimed(when) ? nextTime(when, anchor, after) : undefined
  return next === undefined || (ends_at !== undefined && next >= ends_at) ? undefined : next
}

/** Lists up to `most` times after `after` and before `until`. */
export const nextTimes = (timing: Timing, after: number, most: number, until = Number.POSITIVE_INFINITY): number[] => {
  const times: number[] = []
  for (let at = nextAfter(timing, after); at !== undefined && at < until && times.length < most; ) {
    times.push(at)
    at = nextAfter(timing, at)
  }
  return times
}

/** Longest time until a waiting occurrence is tried again. */
const MOST_WAIT = 5 * MINUTE

/** Returns when a waiting occurrence is tried again: the interval grows with the time waited, from half a minute. */
const retryAt = (since: number, now: number): number =>
  now + Math.min(MOST_WAIT, Math.max(MINUTE / 2, (now - since) / 4))

/** Returns when the sweeper looks at a schedule. */
export const dueAt = (
  { status, when, next_at, waiting, ends_at }: Pick<Schedule, 'status' | 'when' | 'next_at' | 'waiting' | 'ends_at'>,
  now: number,
): number | undefined => {
  if (status !== 'active') return undefined
  const times = [next_at, waiting && retryAt(waiting.since, now), isTimed(when) ? undefined : ends_at].filter(
    (time) => time !== undefined,
  )
  return times.length === 0 ? undefined : Math.min(...times)
}
