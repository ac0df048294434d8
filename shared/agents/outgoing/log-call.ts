import { CALLEE_DIMENSION, type CalleeKind, NO_ANSWER } from '#shared/kernel/metrics.ts'
import type { Logger } from '#shared/kernel/ports/logger.ts'

/**
 * Logs a call to an external party and counts as a metric, per kind, whether it was answered. When most calls of a kind
 * fail, the fault is on the platform's side.
 */
export const logCall = (
  log: Logger,
  message: string,
  called: CalleeKind,
  answered: boolean,
  fields: Record<string, unknown>,
): void => log.metrics(message, { [CALLEE_DIMENSION]: called }, { [NO_ANSWER]: [answered ? 0 : 1, 'Count'] }, fields)
