import { CALLED_DIMENSION, type Called, NO_ANSWER } from '../kernel/metrics.ts'
import type { Logger } from './ports.ts'

/**
 * Writes a call to somebody else down: a log line, and whether it was answered as a metric over all calls of its kind. When most
 * are not, the fault is on this side of them.
 */
export const logCall = (
  log: Logger,
  message: string,
  called: Called,
  answered: boolean,
  fields: Record<string, unknown>,
): void => log.metrics(message, { [CALLED_DIMENSION]: called }, { [NO_ANSWER]: [answered ? 0 : 1, 'Count'] }, fields)
