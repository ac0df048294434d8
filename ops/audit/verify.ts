import { DAY, utcDate } from '#shared/kernel/clock.ts'
import type { Verification } from '#shared/staff/audit/index.ts'
import { OperatorError } from '../command.ts'

export interface Range {
  scope: string
  from: string
  to: string
}

/** Days verified unless the operator says otherwise. */
const DAYS = 30

/** Reads the range that an operator gave. @throws {OperatorError} */
export const readRange = (
  { scope, from, to }: { scope: string; from?: string | undefined; to?: string | undefined },
  now: number,
): Range => {
  if (scope !== 'platform' && !/^ws_[0-9a-z]{26}$/.test(scope))
    throw new OperatorError(`--scope must be platform or a workspace’s ID (ws_…), not ${scope}.`)
  const range = { scope, from: from ?? utcDate(now - (DAYS - 1) * DAY), to: to ?? utcDate(now) }
  for (const name of ['from', 'to'] as const) {
    const isDay = /^\d{4}-\d\d-\d\d$/.test(range[name]) && !Number.isNaN(Date.parse(range[name]))
    if (!isDay) throw new OperatorError(`--${name} must be a day such as 2026-11-01, not ${range[name]}.`)
  }
  if (range.from > range.to) throw new OperatorError('--from must not be after --to.')
  return range
}

/** Returns the lines that an operator reads. */
export const describeVerification = (
  { scope, from, to }: Range,
  { days, entries, unanchored, broken }: Verification,
): string[] => {
  const counted = `${entries} entries on ${days} days`
  if (broken) {
    const { day, id, seq, problem } = broken
    const place = [id, seq !== undefined && `entry ${seq}`, day].filter(Boolean).join(', ')
    return [`The audit of ${scope} is broken at ${place}: ${problem}`, `Before it, ${counted} are intact.`]
  }
  return [
    `The audit of ${scope} from ${from} to ${to} is intact: ${counted}.`,
    ...(unanchored > 0 ? [`${unanchored} of them aren’t in the bucket yet. Anchors are written every 5 minutes.`] : []),
  ]
}
