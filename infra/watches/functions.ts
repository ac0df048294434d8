import { Duration } from 'aws-cdk-lib'
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { PlatformFunction } from '../functions.ts'
import type { Messaging } from '../messaging.ts'
import { pascal } from '../plan.ts'
import type { Watch } from './watch.ts'

const minute = Duration.minutes(1)

/** Alarms of one function: failures, throttles, and delays of its stream and its schedules. */
export const functionWatches = ({ lambda, plan }: PlatformFunction, { schedules }: Messaging): Watch[] => {
  const id = pascal(plan.name)
  const label = plan.name
  const often = { label, limit: 0, breaching: 3, of: 15, severity: 'ticket' } as const
  const found: Watch[] = [
    {
      ...often,
      id: `${id}Errors`,
      kind: 'failing-functions',
      metric: lambda.metricErrors({ period: minute }),
      description: `${plan.name} fails.`,
    },
    {
      ...often,
      id: `${id}Throttles`,
      kind: 'throttled-functions',
      metric: lambda.metricThrottles({ period: minute }),
      description: `${plan.name} has no concurrency left.`,
    },
  ]
  for (const { name, source } of plan.workers) {
    if (source.kind === 'stream') {
      found.push({
        id: `${id}IteratorAge`,
        label,
        kind: 'late-events',
        severity: 'page',
        metric: lambda.metric('IteratorAge', { period: minute, statistic: Stats.MAXIMUM }),
        limit: 60_000,
        breaching: 3,
        of: 3,
        description: `${name} handles the table’s new items more than a minute late.`,
      })
    }
    if (source.kind === 'schedule') {
      const period = Duration.minutes(5 * source.everyMinutes)
      const rule = plan.workers.length > 1 ? schedules.get(name) : undefined
      found.push({
        id: `${pascal(name)}Missing`,
        label: name,
        kind: 'missing-sweep',
        severity: 'page',
        // If other sources also invoke the function, only the rule's metric shows the schedule.
        metric: rule
          ? new Metric({
              namespace: 'AWS/Events',
              metricName: 'Invocations',
              dimensionsMap: { RuleName: rule.ruleName },
              statistic: Stats.SUM,
              period,
            })
          : lambda.metricInvocations({ period }),
        // Of five rounds, or of ten. In the latter case, the rounds of the schedule alone (at most six) are too few.
        limit: source.againAfterSeconds === undefined ? 1 : 7,
        below: true,
        // Metrics of the last minutes arrive late, and eight of ten is close to the limit. The previous period is complete.
        breaching: source.againAfterSeconds === undefined ? 1 : 2,
        of: source.againAfterSeconds === undefined ? 1 : 2,
        description: `${name} isn’t invoked as often as it should be, so overdue work stays undone.`,
      })
    }
  }
  return found
}
