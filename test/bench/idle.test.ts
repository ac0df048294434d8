import { expect, test } from 'vitest'
import { idleCosts, productionCosts, productionTotal } from '#bench/idle.ts'
import { PRICES } from '#bench/prices.ts'
import type { FunctionPlan } from '#infra/plan.ts'
import { listSettings } from '#infra/settings/list.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'

const custom = (MetricName: string) => ({ Namespace: 'Platform/prod', MetricName })
const alarm = (Metrics?: object[]) => ({
  Type: 'AWS::CloudWatch::Alarm',
  Properties: Metrics ? { Metrics } : { Namespace: 'AWS/Other' },
})

const plan = (everyMinutes: number | undefined, capabilities: Capability[]) =>
  ({
    capabilities,
    workers: everyMinutes === undefined ? [] : [{ source: { kind: 'schedule', everyMinutes } }],
  }) as unknown as FunctionPlan

test('the cost of an idle month is computed from the templates', () => {
  const resources = {
    Keys: { Type: 'AWS::SecretsManager::Secret' },
    Bot: { Type: 'AWS::SecretsManager::Secret' },
    AlarmsErrors: alarm(),
    AlarmsShare: alarm([
      { Expression: 'a/b' },
      { MetricStat: { Metric: { Namespace: 'AWS/Other' } } },
      { MetricStat: { Metric: { Namespace: 'AWS/Other' } } },
    ]),
    RolloutApiCrashes: alarm(),
    AlarmsFastBurn: { Type: 'AWS::CloudWatch::CompositeAlarm' },
    Overview: { Type: 'AWS::CloudWatch::Dashboard' },
    Acl: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}] } },
    FromFanout: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { ScalingConfig: {} } },
    FromStream: { Type: 'AWS::Lambda::EventSourceMapping', Properties: {} },
    EveryFive: { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'rate(5 minutes)', Targets: [{}, {}] } },
    EverySweeper: {
      Type: 'AWS::Events::Rule',
      Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [{}, {}] },
    },
    JourneyEvery: { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'rate(5 minutes)', Targets: [{}] } },
    ToFanout: { Type: 'AWS::Events::Rule', Properties: { EventPattern: {} } },
    AlarmsOverdueOldestD0E4A1EF: { Type: 'AWS::CloudWatch::Alarm', Properties: custom('OverdueOldest') },
    AlarmsOverdueAgainD0E4A1EF: { Type: 'AWS::CloudWatch::Alarm', Properties: custom('OverdueOldest') },
    AlarmsFanoutAgeD0E4A1EF: {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: { Namespace: 'AWS/SQS', MetricName: 'ApproximateAgeOfOldestMessage' },
    },
  }
  const plans = [plan(1, ['keys:data', 'table:read']), plan(undefined, ['keys:access'])]
  const costs = idleCosts(resources, plans, { dueShards: 10 })
  expect(costs.map(({ what, count }) => [what, count])).toEqual([
    ['secrets', 2],
    // An alarm on a formula is as many as it has metrics.
    ['metrics of alarms that notify people', 6],
    ['alarms over other alarms', 1],
    ['metrics of alarms that roll back deployments', 1],
    ['dashboards', 1],
    ['web ACLs', 1],
    ['rules of web ACLs', 2],
    ['polls of empty queues, in millions', 0.648],
    // Twice each five minutes, twice a minute, and once each five minutes.
    ['invocations by schedules, in millions', 0.11232],
    ['their GB-seconds, in thousands', expect.closeTo(2.5, 1)],
    ['read units of sweeps, in millions', (86_400 * 10 * 0.5) / 1e6],
    ['write units of sweeps, in millions', 0.0864],
    // One secret, each five minutes.
    ['reads of secrets by scheduled functions, in millions', 0.00864],
    ['API requests of journeys, in millions', 0.01728],
    ['requests of journeys to the web ACL, in millions', 0.01728],
    // Two alarms watch one metric.
    ['custom metrics, each in a month in which it is written', 1],
    // A queue's age, and its waiting messages.
    ['metrics read by `GET /admin/health`, polled at least once a minute, in millions', (2 * 43_200) / 1e6],
  ])
})

test('a production stage without traffic costs at most 30 dollars a month', async () => {
  expect(productionTotal(await productionCosts())).toBeLessThanOrEqual(30)
})

test('a price that a setting names is in the price list', () => {
  const listed = Object.values({
    ...PRICES.month,
    ...PRICES.million,
    ...PRICES.gigabyte,
    ...PRICES.dynamodbProvisioned,
    lambda: PRICES.provisionedArmGbSecond,
  })
  // Of 1 GB for a whole month.
  const known = [...listed, PRICES.provisionedArmGbSecond * 730 * 3600]
  const named = listSettings().flatMap(({ name, cost = '' }) =>
    [...cost.matchAll(/\$([\d.]+)/g)].map(([, figure = '']) => ({ name, figure: Number(figure) })),
  )
  expect(named.length).toBeGreaterThan(10)
  const unknown = named.filter(({ figure }) => !known.some((price) => Math.abs(price - figure) < price / 1_000))
  expect(unknown).toEqual([])
})
