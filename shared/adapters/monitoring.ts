import * as z from 'zod'
import { regionOf, suffixOf } from '../kernel/bucket-address.ts'
import { SECOND } from '../kernel/clock.ts'
import { lazily } from '../kernel/lazily.ts'
import type {
  LabelledMetric,
  MetricSeries,
  Monitoring,
  WatchedAlarm,
  WatchedMetric,
} from '../kernel/ports/monitoring.ts'
import { requestTo, signedRequests } from './signed-requests.ts'

type Environment = Record<string, string | undefined>

/** Timeout that keeps a slow CloudWatch from blocking its caller. */
const DEADLINE = 5 * SECOND

const Measured = () =>
  z.object({
    Namespace: z.string().default(''),
    MetricName: z.string().default(''),
    Dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
  })

const AnyAlarm = () =>
  z.object({
    AlarmName: z.string(),
    AlarmDescription: z.string().default(''),
    StateValue: z.enum(['OK', 'ALARM', 'INSUFFICIENT_DATA']),
    StateUpdatedTimestamp: z.number().optional(),
  })

const DescribedAlarm = () =>
  z.object({
    ...AnyAlarm().shape,
    ...Measured().shape,
    Statistic: z.string().default('Average'),
    Period: z.number().default(60),
    // Set for an alarm over an expression, which has no metric of its own.
    Metrics: z
      .array(
        z.object({
          Label: z.string().default(''),
          MetricStat: z.object({ Metric: Measured(), Period: z.number(), Stat: z.string() }).optional(),
        }),
      )
      .default([]),
  })

const DescribeAlarmsOutput = lazily(() =>
  z.object({
    MetricAlarms: z.array(DescribedAlarm()).default([]),
    CompositeAlarms: z.array(AnyAlarm()).default([]),
    NextToken: z.string().optional(),
  }),
)

const GetMetricDataOutput = lazily(() =>
  z.object({
    MetricDataResults: z
      .array(
        z.object({
          Id: z.string(),
          Timestamps: z.array(z.number()).default([]),
          Values: z.array(z.number()).default([]),
        }),
      )
      .default([]),
    NextToken: z.string().optional(),
  }),
)

/**
 * Creates a client of Amazon CloudWatch over its AWS JSON 1.0 protocol. Two operations don't need an SDK client.
 * @param prefix beginning of the names of this deployment's alarms
 */
export const createMonitoring = (prefix: string | undefined, environment: Environment): Monitoring => {
  const send = async (operation: string, input: object): Promise<unknown> => {
    const region = regionOf(environment)
    const address = environment.AWS_ENDPOINT_URL_CLOUDWATCH ?? environment.AWS_ENDPOINT_URL
    const url = new URL(address ?? `https://monitoring.${region}.${suffixOf(region)}/`)
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `GraniteServiceVersion20100801.${operation}`,
    }
    const request = requestTo(url, { method: 'POST', headers, body: JSON.stringify(input) })
    const { status, body } = await signedRequests('monitoring', environment, DEADLINE).send(request)
    const text = Buffer.from(body).toString()
    if (status !== 200) throw new Error(`CloudWatch refused ${operation}: ${status} ${text.slice(0, 300)}`)
    return JSON.parse(text)
  }

  return {
    async alarms() {
      if (!prefix) throw new Error('this function does not know the names of its alarms')
      const found: WatchedAlarm[] = []
      let NextToken: string | undefined
      do {
        const input = {
          AlarmNamePrefix: prefix,
          AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
          MaxRecords: 100,
          ...(NextToken && { NextToken }),
        }
        const page = DescribeAlarmsOutput().parse(await send('DescribeAlarms', input))
        found.push(...page.MetricAlarms.map((alarm) => watched(alarm, prefix, metricsOf(alarm))))
        found.push(...page.CompositeAlarms.map((alarm) => watched(alarm, prefix, [])))
        NextToken = page.NextToken
      } while (NextToken !== undefined)
      // Each deployment has alarms. Finding none means that nothing is monitored, which is not the same as all well.
      if (found.length === 0) throw new Error(`CloudWatch has no alarm whose name begins with ${prefix}`)
      return found
    },
    async series(metrics, since, until) {
      const found = new Map<string, MetricSeries>()
      let NextToken: string | undefined
      do {
        const page = GetMetricDataOutput().parse(
          await send('GetMetricData', {
            MetricDataQueries: metrics.map(query),
            StartTime: Math.floor(since / SECOND),
            EndTime: Math.ceil(until / SECOND),
            ScanBy: 'TimestampDescending',
            ...(NextToken && { NextToken }),
          }),
        )
        for (const { Id, Values } of page.MetricDataResults) found.set(Id, [...(found.get(Id) ?? []), ...Values])
        NextToken = page.NextToken
      } while (NextToken !== undefined)
      return metrics.map((_, i) => found.get(`m${i}`) ?? [])
    },
  }
}

const watched = (
  alarm: z.infer<ReturnType<typeof AnyAlarm>>,
  prefix: string,
  metrics: readonly LabelledMetric[],
): WatchedAlarm => ({
  name: alarm.AlarmName,
  id: alarm.AlarmName.slice(prefix.length),
  description: alarm.AlarmDescription,
  state: alarm.StateValue,
  since: alarm.StateUpdatedTimestamp === undefined ? undefined : Math.round(alarm.StateUpdatedTimestamp * SECOND),
  metrics,
})

/** Returns the alarm's metric, or the metrics of its expression. */
const metricsOf = (alarm: z.infer<ReturnType<typeof DescribedAlarm>>): LabelledMetric[] => {
  const parts = alarm.Metrics.flatMap(({ Label, MetricStat }) =>
    MetricStat ? [{ label: Label, Metric: MetricStat.Metric, Stat: MetricStat.Stat, Period: MetricStat.Period }] : [],
  )
  const own = { label: '', Metric: alarm, Stat: alarm.Statistic, Period: alarm.Period }
  return (parts.length > 0 ? parts : [own]).map(({ label, Metric, Stat, Period }) => ({
    label,
    namespace: Metric.Namespace,
    name: Metric.MetricName,
    dimensions: Object.fromEntries(Metric.Dimensions.map(({ Name, Value }) => [Name, Value])),
    statistic: Stat,
    period: Period,
  }))
}

const query = ({ namespace, name, dimensions, statistic, period }: WatchedMetric, i: number) => ({
  Id: `m${i}`,
  ReturnData: true,
  MetricStat: {
    Metric: {
      Namespace: namespace,
      MetricName: name,
      Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
    },
    Period: period,
    Stat: statistic,
  },
})
