import { Duration } from 'aws-cdk-lib'
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import { apiMetric } from '../api-metrics.ts'
import type { Watch, Watched } from './watch.ts'

/** Share of requests, in percent, that may fail in 30 days: 43 minutes without any answer. */
const BUDGET = 0.1

/** Minimum number of requests in a long window. A single failure among fewer says little. */
const LEAST_REQUESTS = 100

/** Alarm on the speed at which the error budget is used up, over a long window: enough of the budget is gone to matter. */
export type Burn = Watch & {
  /** Short window that is above the limit as long as it is still going on. The alarm is on while both are. */
  short?: Omit<Watch, 'severity'>
}

/**
 * Multiples of the even pace, with the windows of the SRE workbook: 2 % of the budget in an hour, and 5 % in six hours. Only the alarm
 * that pages has a short window, which ends it soon after the cause is gone: an alarm over two others costs as much as five.
 */
export const burns = ({ api }: Watched): Burn[] =>
  [
    {
      id: 'FastBurn',
      severity: 'page' as const,
      pace: 14.4,
      long: Duration.hours(1),
      short: Duration.minutes(5),
      spent: '2 %',
    },
    { id: 'SlowBurn', severity: 'ticket' as const, pace: 6, long: Duration.hours(6), spent: '5 %' },
  ].map(({ id, severity, pace, long, short, spent }): Burn => {
    const limit = Math.round(100 * pace * BUDGET) / 100
    const [requests, failed] = [`requests${id}`, `failed${id}`]
    const common = { kind: 'error-budget', limit, breaching: 1, of: 1 } as const
    return {
      ...common,
      id,
      severity,
      label: long.toHumanString(),
      metric: new MathExpression({
        expression: `IF(${requests} >= ${LEAST_REQUESTS}, 100 * ${failed} / ${requests}, 0)`,
        usingMetrics: {
          [requests]: apiMetric(api, 'Count', { period: long, statistic: Stats.SUM }),
          [failed]: apiMetric(api, '5XXError', { period: long, statistic: Stats.SUM }),
        },
        period: long,
      }),
      description: `${limit} % of the requests fail: ${spent} of a month’s error budget is gone in ${long.toHumanString()}.`,
      ...(short && {
        short: {
          ...common,
          id: `${id}Short`,
          label: short.toHumanString(),
          // The average is the share of the requests. It needs no minimum of them, because the long window has one.
          metric: apiMetric(api, '5XXError', { period: short, statistic: Stats.AVERAGE }),
          limit: limit / 100,
          description: `Window of ${short.toHumanString()} of ${id}.`,
        },
      }),
    }
  })
