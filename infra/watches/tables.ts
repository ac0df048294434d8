import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { Watch, Watched } from './watch.ts'

const minute = Duration.minutes(1)

/** Alarms on throttling. An index throttles under its own dimension, which the table's metric leaves out. */
export const tableWatches = ({ tables }: Watched): Watch[] =>
  (['Read', 'Write'] as const).map((what) => {
    const metrics = tables.flatMap(({ table, label, indexes }) =>
      [undefined, ...indexes].map((index) => {
        const name = [label, index].filter((part) => part !== undefined).join(' ')
        const metric = new Metric({
          namespace: 'AWS/DynamoDB',
          metricName: `${what}ThrottleEvents`,
          dimensionsMap: {
            TableName: table.tableName,
            ...(index !== undefined && { GlobalSecondaryIndexName: index }),
          },
          statistic: Stats.SUM,
          period: minute,
          label: `${name} ${what.toLowerCase()}s`,
        })
        return [`${label}${(index ?? 'items').replace(/^./, (first) => first.toUpperCase())}${what}s`, metric] as const
      }),
    )
    return {
      id: `Table${what}Throttles`,
      label: what,
      kind: 'throttled-table',
      severity: 'ticket',
      metric: new MathExpression({
        expression: `SUM([${metrics.map(([id]) => id).join(', ')}])`,
        usingMetrics: Object.fromEntries(metrics),
        period: minute,
      }),
      lines: metrics.map(([, metric]) => metric),
      limit: 0,
      breaching: 3,
      of: 3,
      description: 'Requests to a table or one of its indexes are throttled, probably because of a hot key.',
    }
  })
