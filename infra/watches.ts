import { Duration } from 'aws-cdk-lib'
import { Stats } from 'aws-cdk-lib/aws-cloudwatch'
import { THROTTLED } from '#shared/kernel/metrics.ts'
import { apiMetric } from './api-metrics.ts'
import { concurrencyWatch, functionWatches, latencyWatches, sourceWatches } from './watches/functions.ts'
import { callWatches, sweepWatches } from './watches/logged-metrics.ts'
import { messageWatches } from './watches/messages.ts'
import { tableWatches } from './watches/tables.ts'
import { platformMetric, type Watch, type Watched } from './watches/watch.ts'

const minute = Duration.minutes(1)
const fewMinutes = Duration.minutes(5)

/** Lists everything that has an alarm. */
export const watches = (watched: Watched): Watch[] => [
  ...answers(watched),
  ...latencyWatches(watched.functions),
  ...functionWatches(watched),
  concurrencyWatch(),
  ...watched.functions.flatMap((one) => sourceWatches(one, watched.messaging)),
  ...sweepWatches(watched),
  ...messageWatches(watched.messaging),
  ...tableWatches(watched),
  ...callWatches(watched),
  ...journeyWatches(watched),
]

const answers = ({ api, stageName }: Watched): Watch[] => [
  {
    id: 'ServerErrors',
    label: '5xx',
    kind: 'server-errors',
    severity: 'page',
    metric: apiMetric(api, '5XXError', { period: minute, statistic: Stats.SUM }),
    limit: 5,
    breaching: 3,
    of: 3,
    description: 'Requests are answered with a 5xx.',
  },
  {
    id: 'AdminRefused',
    label: '429',
    kind: 'refused-staff',
    severity: 'ticket',
    metric: platformMetric(stageName, THROTTLED, { Group: 'admin' }, { period: fewMinutes, statistic: Stats.SUM }),
    limit: 20,
    breaching: 1,
    of: 1,
    description: 'Someone is guessing admins’ passwords, or sends too many requests to the admin API.',
  },
]

/**
 * Alarm on the journey, whose function fails when the journey does. A missing one is as bad as a failed one, because no one looks
 * from outside then.
 */
const journeyWatches = ({ journey }: Watched): Watch[] =>
  journey
    ? [
        {
          id: 'JourneyFailed',
          label: 'failed',
          kind: 'failed-journey',
          severity: 'page',
          metric: journey.metricErrors({ period: fewMinutes, statistic: Stats.MAXIMUM }),
          limit: 0,
          expected: true,
          breaching: 2,
          of: 3,
          description: 'A client’s journey over the platform’s address fails, or isn’t run.',
        },
      ]
    : []
