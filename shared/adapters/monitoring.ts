import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { MetricSeries, Monitoring, WatchedAlarm, WatchedMetric } from '../domain/ports.ts'
import { SECOND } from '../kernel/clock.ts'
import { createSigner } from './objects/bucket.ts'

type Environment = Record<string, string | undefined>

/** A look at the alarms must not keep its caller waiting when CloudWatch does. */
const DEADLINE = 5 * SECOND

const Measured = z.object({
  Namespace: z.string().default(''),
  MetricName: z.string().default(''),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
})

const DescribedAlarm = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string().default(''),
  StateValue: z.enum(['OK', 'ALARM', 'INSUFFICIENT_DATA']),
  StateUpdatedTimestamp: z.number().optional(),
  ...Measured.shape,
  Statistic: z.string().default('Average'),
  Period: z.number().default(60),
  // Of an alarm over an expression, which has no metric of its own.
  Metrics: z
    .array(z.object({ MetricStat: z.object({ Metric: Measured, Period: z.number(), Stat: z.string() }).optional() }))
    .default([]),
})

const DescribeAlarmsOutput = z.object({
  MetricAlarms: z.array(DescribedAlarm).default([]),
  NextToken: z.string().optional(),
})

const GetMetricDataOutput = z.object({
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
})

/**
 * Amazon CloudWatch in its AWS JSON 1.0 protocol, over plain signed requests: two operations do not need a client of their own,
 * and the signer is in the bundle anyway.
 * @param prefix what the names of this deployment's alarms begin with
 */
export const createMonitoring = (prefix: string | undefined, environment: Environment): Monitoring => {
  const send = async (operation: string, input: object): Promise<unknown> => {
    const region = environment.AWS_REGION ?? 'us-east-1'
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
    const address = environment.AWS_ENDPOINT_URL_CLOUDWATCH ?? environment.AWS_ENDPOINT_URL
    const url = new URL(address ?? `https://monitoring.${region}.${suffix}/`)
    const body = JSON.stringify(input)
    const { headers } = (await createSigner('monitoring', environment).sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port && { port: Number(url.port) }),
      path: '/',
      query: {},
      headers: {
        host: url.host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `GraniteServiceVersion20100801.${operation}`,
        'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
      },
      body,
    } as never)) as unknown as { headers: Record<string, string> }
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(DEADLINE) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`CloudWatch refused ${operation}: ${answer.status} ${text.slice(0, 300)}`)
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
          AlarmTypes: ['MetricAlarm'],
          MaxRecords: 100,
          ...(NextToken && { NextToken }),
        }
        const page = DescribeAlarmsOutput.parse(await send('DescribeAlarms', input))
        found.push(...page.MetricAlarms.map((alarm) => watched(alarm, prefix)))
        NextToken = page.NextToken
      } while (NextToken !== undefined)
      // Each deployment has some: without any, nothing is watched that anybody knows of, which is not the same as all well.
      if (found.length === 0) throw new Error(`CloudWatch has no alarm whose name begins with ${prefix}`)
      return found
    },
    async series(metrics, since, until) {
      const found = new Map<string, MetricSeries>()
      let NextToken: string | undefined
      do {
        const page = GetMetricDataOutput.parse(
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

const watched = (alarm: z.infer<typeof DescribedAlarm>, prefix: string): WatchedAlarm => ({
  name: alarm.AlarmName,
  id: alarm.AlarmName.slice(prefix.length),
  description: alarm.AlarmDescription,
  state: alarm.StateValue,
  since: alarm.StateUpdatedTimestamp === undefined ? undefined : Math.round(alarm.StateUpdatedTimestamp * SECOND),
  metric: metricOf(alarm),
})

/** Of an expression, the first metric in it. */
const metricOf = (alarm: z.infer<typeof DescribedAlarm>): WatchedMetric => {
  const { Metric, Stat, Period } = alarm.Metrics.find(({ MetricStat }) => MetricStat)?.MetricStat ?? {
    Metric: alarm,
    Stat: alarm.Statistic,
    Period: alarm.Period,
  }
  return {
    namespace: Metric.Namespace,
    name: Metric.MetricName,
    dimensions: Object.fromEntries(Metric.Dimensions.map(({ Name, Value }) => [Name, Value])),
    statistic: Stat,
    period: Period,
  }
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
