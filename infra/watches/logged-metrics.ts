import { Duration } from 'aws-cdk-lib'
import { MathExpression, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import {
  CALLEE_DIMENSION,
  CALLEE_KINDS,
  type CalleeKind,
  NO_ANSWER,
  SWEEP_DIMENSIONS,
  SWEEP_METRICS,
} from '#shared/kernel/metrics.ts'
import { pascal } from '../plan.ts'
import { platformMetric, type Watch, type Watched } from './watch.ts'

const minute = Duration.minutes(1)
const fewMinutes = Duration.minutes(5)

/** Minimum number of calls in a period. Fewer say nothing about connectivity. */
const LEAST_CALLS = 20

const CALLED_NAMES: Record<CalleeKind, string> = {
  webhook: 'webhook receivers',
  agent: 'agents',
  model: 'the language model',
}

/** Alarms on the metrics that the sweeper logs. */
export const sweepWatches = ({ stageName }: Watched): Watch[] => {
  const said = (name: string, options: MetricOptions) => platformMetric(stageName, name, SWEEP_DIMENSIONS, options)
  return [
    {
      id: 'OverdueOldest',
      label: 'oldest',
      kind: 'overdue-records',
      severity: 'page',
      metric: said(SWEEP_METRICS.oldest, { period: minute, statistic: Stats.MAXIMUM }),
      limit: 600_000,
      breaching: 3,
      of: 3,
      description:
        'Runs, events, deliveries or approvals are more than 10 minutes overdue when the sweeper finds them.',
    },
    {
      id: 'OverdueFailed',
      label: 'failed',
      kind: 'failing-records',
      severity: 'ticket',
      // Failed records are retried after 5 minutes.
      metric: said(SWEEP_METRICS.failed, { period: fewMinutes, statistic: Stats.SUM }),
      limit: 0,
      breaching: 3,
      of: 3,
      description: 'The sweeper repeatedly fails on records.',
    },
  ]
}

/** Alarms on the metrics that functions log about their outgoing calls. */
export const callWatches = ({ stageName, model }: Watched): Watch[] =>
  CALLEE_KINDS.filter((called) => model || called !== 'model').map((called): Watch => {
    const metric = (statistic: string) =>
      platformMetric(stageName, NO_ANSWER, { [CALLEE_DIMENSION]: called }, { period: fewMinutes, statistic })
    return {
      id: `${pascal(called)}NoAnswer`,
      label: called,
      kind: 'unanswered-calls',
      severity: 'ticket',
      metric: new MathExpression({
        expression: `IF(${called}Calls >= ${LEAST_CALLS}, 100 * ${called}Failed / ${called}Calls, 0)`,
        usingMetrics: { [`${called}Failed`]: metric(Stats.SUM), [`${called}Calls`]: metric(Stats.SAMPLE_COUNT) },
        period: fewMinutes,
      }),
      limit: 50,
      breaching: 2,
      of: 2,
      description: `Most calls to ${CALLED_NAMES[called]} get no answer.`,
    }
  })
