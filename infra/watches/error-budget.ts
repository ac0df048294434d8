import { Duration } from 'aws-cdk-lib'
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import { apiMetric } from '../api-metrics.ts'
import type { Severity, Watch, Watched } from './watch.ts'

/** Share of requests, in percent, that may fail in 30 days: 43 minutes without any answer. */
const BUDGET = 0.1

/** Minimum number of requests in a window. A single failure among fewer says little. */
const LEAST_REQUESTS = 100

/**
 * Alarm on the speed at which the error budget is used up. It is on while both windows are above the limit: the long one shows that
 * enough of the budget is gone to matter, and the short one that it is still going on.
 */
export type Burn = {
  id: string
  severity: Severity
  description: string
  /** The long window and the short one. */
  windows: readonly [Omit<Watch, 'severity'>, Omit<Watch, 'severity'>]
}

/** Multiples of the even pace, with the windows of the SRE workbook: 2 % of the budget in an hour, and 5 % in six hours. */
export const burns = ({ api }: Watched): Burn[] =>
  [
    { id: 'FastBurn', severity: 'page', pace: 14.4, long: Duration.hours(1), short: Duration.minutes(5), spent: '2 %' },
    { id: 'SlowBurn', severity: 'ticket', pace: 6, long: Duration.hours(6), short: Duration.minutes(30), spent: '5 %' },
  ].map(({ id, severity, pace, long, short, spent }): Burn => {
    const limit = Math.round(100 * pace * BUDGET) / 100
    const window = (name: string, period: Duration): Omit<Watch, 'severity'> => {
      const [requests, failed] = [`requests${id}${name}`, `failed${id}${name}`]
      return {
        id: `${id}${name}`,
        label: period.toHumanString(),
        kind: 'error-budget',
        metric: new MathExpression({
          expression: `IF(${requests} >= ${LEAST_REQUESTS}, 100 * ${failed} / ${requests}, 0)`,
          usingMetrics: {
            [requests]: apiMetric(api, 'Count', { period, statistic: Stats.SUM }),
            [failed]: apiMetric(api, '5XXError', { period, statistic: Stats.SUM }),
          },
          period,
        }),
        limit,
        breaching: 1,
        of: 1,
        description: `Window of ${period.toHumanString()} of ${id}.`,
      }
    }
    return {
      id,
      severity: severity as Severity,
      description: `${limit} % of the requests fail: ${spent} of a month’s error budget is gone in ${long.toHumanString()}.`,
      windows: [window('Long', long), window('Short', short)],
    }
  })
