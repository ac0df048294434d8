import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createMetrics } from '#local/aws/cloudwatch/metrics.ts'
import { createCloudwatch } from '#local/aws/cloudwatch.ts'
import { type Services, startAwsServer } from '#local/aws/server.ts'
import { readAlarms } from '#local/template/alarms.ts'
import type { AlarmModel } from '#local/template/model.ts'
import { createMonitoring } from '#shared/adapters/monitoring.ts'
import { SweepMarkEntity } from '#shared/foundation/overdue/entity.ts'
import { QUEUE_NAMES } from '#shared/kernel/queue-names.ts'
import { synthesize } from '#test/infra/support.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { readAsAdmin, SUPER, signInModerator } from './observation-support.ts'

const platform = usingPlatform()
const { operations, names } = synthesize()
const PREFIX = `${names.at(-1)}-`

/** Replaces template references by their JSON text. */
const named = (properties: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(properties), (_, value) =>
    /^(Ref|Fn::\w+)$/.test(Object.keys(Object(value))[0] ?? '') ? nameOf(value) : value,
  )

/** Returns the name of an alarm of the stack, or the reference's JSON text. */
const nameOf = (value: { Ref?: string; 'Fn::Join'?: [string, string[]] }): string => {
  if (value['Fn::Join']?.[1].some((part) => part.startsWith?.('ALARM'))) return value['Fn::Join'][1].join('')
  return value.Ref?.startsWith('Alarms') ? `${PREFIX}${value.Ref}-ABCDEFGHIJKL` : JSON.stringify(value)
}

/** Alarms of the stack as deployed. Resources of other stacks are named by their construct. */
const alarms: AlarmModel[] = readAlarms(
  [
    ...Object.entries(operations.findResources('AWS::CloudWatch::Alarm')),
    ...Object.entries(operations.findResources('AWS::CloudWatch::CompositeAlarm')),
  ].map(([logicalId, { Type, Properties }]) => ({
    stack: 'Operations',
    logicalId,
    type: Type,
    name: `${PREFIX}${logicalId}-ABCDEFGHIJKL`,
    properties: named(Properties),
    metadata: {},
  })),
)

let now = Date.UTC(2026, 10, 21, 10)
let metrics = createMetrics(() => now)
let cloudwatch = createCloudwatch({ alarms, metrics, now: () => now })
let server: Awaited<ReturnType<typeof startAwsServer>>
let refusing = false
const operationsAsked: string[] = []

beforeAll(async () => {
  const monitoring = {
    handle: (operation: string, input: Record<string, unknown>) => {
      operationsAsked.push(operation)
      if (refusing) throw new Error('not now')
      return cloudwatch.handle(operation, input)
    },
  }
  const disk = { notice: () => false }
  const services = { monitoring, disk, hook: () => undefined, connections: () => false } as unknown as Services
  server = await startAwsServer(() => services, 0)
})
afterAll(() => server.stop())

beforeEach(async () => {
  now = platform.clock.now()
  metrics = createMetrics(() => now)
  cloudwatch = createCloudwatch({ alarms, metrics, now: () => now })
  refusing = false
  await swept(0)
  Object.assign(platform.deps, {
    monitoring: createMonitoring(PREFIX, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_CLOUDWATCH: server.address,
    }),
  })
})

const swept = (ageMs: number, failed = 0) =>
  platform.deps.table.transact([
    SweepMarkEntity.replace({ name: 'overdue', at: platform.clock.now() - ageMs, found: 3, failed, oldest_ms: 900 }),
  ])

/** Reads the health once the earlier reading is old. */
const health = () => {
  platform.clock.advance(60_000)
  now = Math.max(now, platform.clock.now())
  return readAsAdmin(platform, '/admin/health')
}

/** Returns the alarm that watches a part of the stack. */
const alarmOf = (title: string): AlarmModel => {
  const found = alarms.find(({ name }) => name.replace(/[0-9A-F]{8}-ABCDEFGHIJKL$/, '') === `${PREFIX}Alarms${title}`)
  if (!found) throw new Error(`no alarm watches ${title}`)
  return found
}

it('shows every queue and the dead letters under their own names', async () => {
  const body = await health()
  expect(body.status).toBe('ok')
  expect(body.queues.map(({ name }: { name: string }) => name)).toEqual([...QUEUE_NAMES].sort())
  const dead = body.dead_letters.map(({ name }: { name: string }) => name)
  expect(dead).toEqual(['failed', 'undelivered', 'unrelayed'])
  expect(body.last_sweep).toMatchObject({ found: 3, failed: 0, oldest_ms: 900 })
})

it('shows current ages, depths, errors, lag and throttles', async () => {
  const age = alarmOf('FanoutAge')
  metrics.gauge(age.namespace, age.metricName, age.dimensions, () => 42)
  metrics.gauge(age.namespace, 'ApproximateNumberOfMessagesVisible', age.dimensions, () => 7)
  for (const [title, label, value] of [
    ['FunctionErrors', undefined, 2],
    ['FunctionErrors', undefined, 1],
    ['FunctionThrottles', undefined, 6],
    ['RelayIteratorAge', undefined, 1_234],
    ['TableWriteThrottles', 'platform writes', 5],
    ['TableWriteThrottles', 'platform due writes', 2],
  ] as const) {
    const alarm = alarmOf(title)
    const part = alarm.expression?.metrics.find((metric) => metric.label === label)
    metrics.put(alarm.namespace, alarm.metricName, part?.dimensions ?? alarm.dimensions, value)
  }
  const body = await health()
  expect(body.queues.find(({ name }: { name: string }) => name === 'fanout')).toEqual({
    name: 'fanout',
    waiting: 7,
    oldest_age_seconds: 42,
  })
  expect(body.functions).toEqual({ errors: 3, throttles: 6 })
  expect(body.stream.lag_ms).toBe(1_234)
  expect(body.table.write_throttles).toBe(7)
})

it('is degraded when a part has a problem, and names the alarm', async () => {
  const depth = alarmOf('FailedDepth')
  metrics.gauge(depth.namespace, depth.metricName, depth.dimensions, () => 1)
  const { status, reasons, dead_letters } = await health()
  expect(status).toBe('degraded')
  expect(reasons).toEqual([
    {
      alarm: depth.name,
      severity: 'degraded',
      message: expect.stringMatching(/^FailedDepth: .*redrive/),
      since: expect.any(String),
    },
  ])
  expect(dead_letters).toContainEqual({ name: 'failed', messages: 1 })
})

it('fails when a shared dependency does, and lists that first', async () => {
  const depth = alarmOf('FailedDepth')
  metrics.gauge(depth.namespace, depth.metricName, depth.dimensions, () => 1)
  const lag = alarmOf('RelayIteratorAge')
  for (let minute = 0; minute < 3; minute++) {
    now += 60_000
    metrics.put(lag.namespace, lag.metricName, lag.dimensions, 90_000)
  }
  platform.clock.advance(180_000)
  const { status, reasons } = await readAsAdmin(platform, '/admin/health')
  expect(status).toBe('failing')
  expect(reasons.map(({ alarm }: { alarm: string }) => alarm)).toEqual([lag.name, depth.name])
})

it('fails while the error budget burns in both windows, and says nothing of a window alone', async () => {
  const [long, short] = [alarmOf('FastBurnLong'), alarmOf('FastBurnShort')]
  const requests = (count: number, failed: number) => {
    for (let i = 0; i < count; i++) metrics.put(long.namespace, 'Count', long.dimensions, 1)
    metrics.put(long.namespace, '5XXError', long.dimensions, failed)
  }
  expect(long.dimensions).toEqual(short.dimensions)
  requests(200, 40)
  expect(await health()).toMatchObject({
    status: 'failing',
    reasons: expect.arrayContaining([
      expect.objectContaining({ alarm: alarmOf('FastBurn').name, severity: 'failing' }),
    ]),
  })
  now += 6 * 60_000
  requests(200, 0)
  const { reasons } = await health()
  expect(reasons.map(({ message }: { message: string }) => message).join()).not.toContain('FastBurn')
})

it('fails when the sweeper has stopped, and is degraded by records that it cannot handle', async () => {
  await swept(6 * 60_000)
  expect(await health()).toMatchObject({ status: 'failing', reasons: [{ alarm: null, severity: 'failing' }] })
  await swept(0, 2)
  expect(await health()).toMatchObject({
    status: 'degraded',
    reasons: [{ message: expect.stringContaining('2 overdue') }],
  })
})

it('answers without values when CloudWatch doesn’t respond, and reports that nothing is known', async () => {
  refusing = true
  platform.clock.advance(60_000)
  const { status, body } = await platform.call('GET', '/admin/health', SUPER)
  expect([status, body.status, body.queues]).toEqual([200, 'degraded', []])
  expect(body.reasons[0].message).toMatch(/couldn’t be read/)
  expect(body.last_sweep).not.toBeNull()
})

it('is degraded, and says so, when CloudWatch has no alarm of the deployment', async () => {
  const lines: string[] = []
  const error = platform.deps.log.error
  platform.deps.log.error = (message, fields) => void lines.push(`${message} ${String(fields?.error)}`)
  cloudwatch = createCloudwatch({ alarms: [], metrics, now: () => now })
  const body = await health().finally(() => Object.assign(platform.deps.log, { error }))
  expect(body).toMatchObject({ status: 'degraded', queues: [], functions: { errors: null, throttles: null } })
  expect(lines.join()).toContain(`CloudWatch has no alarm whose name begins with ${PREFIX}`)
})

it('is read from CloudWatch once a minute for all readers, and tells when; the last sweep is always current', async () => {
  const first = await health()
  const age = alarmOf('FanoutAge')
  metrics.gauge(age.namespace, age.metricName, age.dimensions, () => 42)
  const lag = (body: { queues: { name: string; oldest_age_seconds: number }[] }) =>
    body.queues.find(({ name }) => name === 'fanout')?.oldest_age_seconds
  operationsAsked.length = 0
  platform.clock.advance(30_000)
  // Another instance: nothing of the reading is in memory.
  const { token } = await signInModerator(platform)
  await swept(0, 2)
  const again = await readAsAdmin(platform, '/admin/health', { token })
  expect(operationsAsked).toEqual([])
  expect(again).toMatchObject({ as_of: first.as_of, queues: first.queues, status: 'degraded' })
  expect(again.last_sweep).toMatchObject({ age_seconds: 1, failed: 2 })
  const later = await health()
  expect(Date.parse(later.as_of)).toBeGreaterThanOrEqual(Date.parse(first.as_of) + 60_000)
  expect(lag(later)).toBe(42)
})

it('a failure to read the alarms is not kept for the next reader', async () => {
  refusing = true
  expect(await health()).toMatchObject({ status: 'degraded' })
  refusing = false
  expect(await readAsAdmin(platform, '/admin/health')).toMatchObject({ status: 'ok' })
})

it('reads all values in one request, and alarms in one request per 100', async () => {
  operationsAsked.length = 0
  await health()
  const pages = Math.ceil(alarms.length / 100)
  expect(operationsAsked).toEqual([...Array(pages).fill('DescribeAlarms'), 'GetMetricData'])
})
