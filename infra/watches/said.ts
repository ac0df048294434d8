import { Duration } from 'aws-cdk-lib'
import { MathExpression, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import {
  CALLED,
  CALLED_DIMENSION,
  type Called,
  NO_ANSWER,
  SWEEP_DIMENSIONS,
  SWEEP_METRICS,
} from '#shared/kernel/metrics.ts'
import { pascal } from '../plan.ts'
import { own, type Watch, type Watched } from './watch.ts'

const minute = Duration.minutes(1)
const fewMinutes = Duration.minutes(5)

/** Fewer calls than this in a period say nothing about the way out. */
const LEAST_CALLS = 20

const CALLED_NAMES: Record<Called, string> = {
  webhook: 'webhook receivers',
  agent: 'agents',
  model: 'the language model',
}

/** What the sweep says that it found. */
export const sweepWatches = ({ stageName }: Watched): Watch[] => {
  const said = (name: string, options: MetricOptions) => own(stageName, name, SWEEP_DIMENSIONS, options)
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
      description: 'Runs, events, deliveries or approvals are more than 10 minutes overdue when the sweep finds them.',
    },
    {
      id: 'OverdueFailed',
      label: 'failed',
      kind: 'failing-records',
      severity: 'ticket',
      // What failed is looked at again after 5 minutes.
      metric: said(SWEEP_METRICS.failed, { period: fewMinutes, statistic: Stats.SUM }),
      limit: 0,
      breaching: 3,
      of: 3,
      description: 'The sweep finds records that it cannot handle, again and again.',
    },
  ]
}

/** What the functions say of whom they call. */
export const callWatches = ({ stageName }: Watched): Watch[] =>
  CALLED.map((called): Watch => {
    const metric = (statistic: string) =>
      own(stageName, NO_ANSWER, { [CALLED_DIMENSION]: called }, { period: fewMinutes, statistic })
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
      description: `Most calls of ${CALLED_NAMES[called]} get no answer.`,
    }
  })
