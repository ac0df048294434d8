import { Duration } from 'aws-cdk-lib'
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { REQUEST_METRICS } from '#shared/kernel/metrics.ts'
import { apiMetric } from './api-metrics.ts'
import { functionWatches } from './watches/functions.ts'
import { callWatches, sweepWatches } from './watches/logged-metrics.ts'
import { messageWatches } from './watches/messages.ts'
import { platformMetric, type Watch, type Watched } from './watches/watch.ts'

const minute = Duration.minutes(1)
const fewMinutes = Duration.minutes(5)

/** Lists everything that has an alarm. */
export const watches = (watched: Watched): Watch[] => [
  ...answers(watched),
  ...watched.functions.flatMap((one) => functionWatches(one, watched.messaging)),
  ...sweepWatches(watched),
  ...messageWatches(watched.messaging),
  ...throttles(watched.table),
  ...callWatches(watched),
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
    metric: platformMetric(
      stageName,
      REQUEST_METRICS.throttled,
      { Group: 'admin' },
      { period: fewMinutes, statistic: Stats.SUM },
    ),
    limit: 20,
    breaching: 1,
    of: 1,
    description: 'Someone is guessing admins’ passwords, or sends too many requests to the admin API.',
  },
]

const throttles = (table: ITable): Watch[] =>
  (['Read', 'Write'] as const).map((what) => ({
    id: `Table${what}Throttles`,
    label: what,
    kind: 'throttled-table',
    severity: 'ticket',
    metric: new Metric({
      namespace: 'AWS/DynamoDB',
      metricName: `${what}ThrottleEvents`,
      dimensionsMap: { TableName: table.tableName },
      statistic: Stats.SUM,
      period: minute,
    }),
    limit: 0,
    breaching: 3,
    of: 3,
    description: 'Requests to the table are throttled, probably because of a hot key.',
  }))
