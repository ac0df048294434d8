import type { CheckEvent } from '#shared/agents/schedules/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isMask } from '../catalogue/catalogue.ts'
import { requireReadable } from '../catalogue/readable.ts'
import { startsNone } from './start.ts'

/**
 * Checks the event type or mask of a schedule.
 * @throws `validation_error` for one that doesn't exist or starts nothing; `insufficient_scope` for one that the agent can't read
 */
export const checkEvent: CheckEvent = ({ event }, reader) => {
  if (!isMask(event) || event === '*') {
    throw wrong('must be an event type, or a mask such as task.*', 'Event types are listed in /docs#/events.')
  }
  if (startsNone(event)) throw wrong('starts no runs', 'Choose another event.')
  requireReadable([event], reader)
}

const wrong = (problem: string, fix: string) =>
  fail('validation_error', {
    message: `when.event ${problem}.`,
    fix,
    details: { fields: { 'when.event': [problem] } },
  })
