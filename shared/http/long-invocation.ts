import type { Context } from 'aws-lambda'
import { LONG_INVOCATIONS } from '../kernel/metrics.ts'
import type { Logger } from '../kernel/ports/logger.ts'

/** Share of a function's time after which an invocation counts as long. Lambda ends it when all of it is over. */
const LONG = 0.95

/** Runs an invocation, and writes a metric if it took almost as long as Lambda lets it. */
export const reportingLong = async <T>(
  context: Pick<Context, 'getRemainingTimeInMillis'> | undefined,
  log: () => Pick<Logger, 'metrics'> | Promise<Pick<Logger, 'metrics'>>,
  run: () => Promise<T>,
): Promise<T> => {
  const left = (): number => context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY
  const whole = left()
  try {
    return await run()
  } finally {
    if (whole - left() > LONG * whole)
      (await log()).metrics('long invocation', {}, { [LONG_INVOCATIONS]: [1, 'Count'] })
  }
}
