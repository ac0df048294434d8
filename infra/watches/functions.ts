import { Duration } from 'aws-cdk-lib'
import { Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { PlatformFunction } from '../functions.ts'
import { pascal } from '../plan.ts'
import type { Watch } from './watch.ts'

const minute = Duration.minutes(1)

/** Of each function, and of those that a stream or a schedule wakes whether they keep up. */
export const functionWatches = ({ lambda, plan }: PlatformFunction): Watch[] => {
  const id = pascal(plan.name)
  const label = plan.name
  const often = { label, limit: 0, breaching: 3, of: 15, severity: 'ticket' } as const
  const found: Watch[] = [
    {
      ...often,
      id: `${id}Errors`,
      kind: 'failing-functions',
      metric: lambda.metricErrors({ period: minute }),
      description: `functions/${plan.name} fails.`,
    },
    {
      ...often,
      id: `${id}Throttles`,
      kind: 'throttled-functions',
      metric: lambda.metricThrottles({ period: minute }),
      description: `functions/${plan.name} has no concurrency left.`,
    },
  ]
  const source = plan.worker?.source
  if (source?.kind === 'stream') {
    found.push({
      id: `${id}IteratorAge`,
      label,
      kind: 'late-events',
      severity: 'page',
      metric: lambda.metric('IteratorAge', { period: minute, statistic: Stats.MAXIMUM }),
      limit: 60_000,
      breaching: 3,
      of: 3,
      description: 'Events are relayed more than a minute late.',
    })
  }
  if (source?.kind === 'schedule') {
    found.push({
      id: `${id}Missing`,
      label,
      kind: 'missing-sweep',
      severity: 'page',
      metric: lambda.metricInvocations({ period: Duration.minutes(5 * source.everyMinutes) }),
      // Of five, or of ten: then those of the schedule alone, six at most, are too few.
      limit: source.againAfterSeconds === undefined ? 1 : 7,
      below: true,
      // What the last minutes measured comes late, and ten less two is nearly too few: the five minutes before are whole.
      breaching: source.againAfterSeconds === undefined ? 1 : 2,
      of: source.againAfterSeconds === undefined ? 1 : 2,
      description: `functions/${plan.name} is not invoked as often as it should be: what is overdue stays so.`,
    })
  }
  return found
}
