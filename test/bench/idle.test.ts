import { expect, test } from 'vitest'
import { idleCosts } from '#bench/idle.ts'
import { PRICES } from '#bench/prices.ts'
import { listSettings } from '#infra/settings/list.ts'

const alarm = (Metrics?: object[]) => ({ Type: 'AWS::CloudWatch::Alarm', Properties: Metrics ? { Metrics } : {} })

test('the cost of an idle month is computed from the templates', () => {
  const costs = idleCosts({
    Keys: { Type: 'AWS::SecretsManager::Secret' },
    Bot: { Type: 'AWS::SecretsManager::Secret' },
    AlarmsErrors: alarm(),
    AlarmsShare: alarm([{ Expression: 'a/b' }, { MetricStat: {} }, { MetricStat: {} }]),
    RolloutApiCrashes: alarm(),
    AlarmsFastBurn: { Type: 'AWS::CloudWatch::CompositeAlarm' },
    Overview: { Type: 'AWS::CloudWatch::Dashboard' },
    Acl: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}] } },
    FromFanout: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { ScalingConfig: {} } },
    FromStream: { Type: 'AWS::Lambda::EventSourceMapping', Properties: {} },
    EveryFive: { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'rate(5 minutes)', Targets: [{}, {}] } },
    ToFanout: { Type: 'AWS::Events::Rule', Properties: { EventPattern: {} } },
  })
  expect(costs.map(({ what, count }) => [what, count])).toEqual([
    ['secrets', 2],
    // An alarm on a formula is as many as it has metrics.
    ['metrics of alarms that notify people', 3],
    ['alarms over other alarms', 1],
    ['metrics of alarms that roll back deployments', 1],
    ['dashboards', 1],
    ['web ACLs', 1],
    ['rules of web ACLs', 2],
    ['polls of empty queues, in millions', 0.648],
    ['invocations by schedules, in millions', 0.01728],
  ])
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
