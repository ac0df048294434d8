import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { readConfig } from '#infra/config.ts'
import { createPlatform } from '#infra/platform.ts'
import { QUEUES } from '#shared/foundation/queues/queues.ts'
import { PRICES } from './prices.ts'
import { fixed, type Table } from './report/table.ts'

/** Resource of a template, with the properties that determine its price. */
// biome-ignore lint/suspicious/noExplicitAny: templates are plain JSON of many shapes
export type Resource = { Type: string; Properties?: any }

/** Line of the bill for a month without traffic. */
export type IdleCost = { what: string; setting: string; count: number; each: number }

/** Lambda keeps five long polls of 20 seconds open at an empty queue. */
const POLLS_A_MINUTE = 5 * 3
const MINUTES_A_MONTH = 30 * 24 * 60

/** Computes the fixed costs of templates. @param resources resources of all stacks by logical id */
export const idleCosts = (resources: Record<string, Resource>): IdleCost[] => {
  const all = Object.entries(resources)
  const of = (type: string) => all.filter(([, resource]) => resource.Type === type)
  const alarms = of('AWS::CloudWatch::Alarm')
  const rollout = alarms.filter(([id]) => id.startsWith('Rollout'))
  const acls = of('AWS::WAFv2::WebACL')
  const queues = of('AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) => Properties?.ScalingConfig)
  const minutes = of('AWS::Events::Rule').flatMap(([, { Properties }]) => {
    const every = /^rate\((\d+) minutes?\)$/.exec(Properties?.ScheduleExpression ?? '')?.[1]
    // A target that is a queue also wakes the function, later.
    return every === undefined ? [] : [(MINUTES_A_MONTH / Number(every)) * Properties.Targets.length]
  })
  const { month, million } = PRICES
  const row = (what: string, setting: string, count: number, each: number): IdleCost => ({ what, setting, count, each })
  return [
    row('secrets', '', of('AWS::SecretsManager::Secret').length, month.secret),
    row('metrics of alarms that notify people', '', metricsOf(alarms) - metricsOf(rollout), month.alarmMetric),
    row('alarms over other alarms', '', of('AWS::CloudWatch::CompositeAlarm').length, month.compositeAlarm),
    row('metrics of alarms that roll back deployments', 'deployment', metricsOf(rollout), month.alarmMetric),
    row('dashboards', '', of('AWS::CloudWatch::Dashboard').length, month.dashboard),
    row('web ACLs', 'waf', acls.length, month.webAcl),
    row('rules of web ACLs', 'waf', acls.flatMap(([, acl]) => acl.Properties.Rules).length, month.webAclRule),
    row(
      'polls of empty queues, in millions',
      '',
      (queues.length * POLLS_A_MINUTE * MINUTES_A_MONTH) / 1e6,
      million.sqsRequests,
    ),
    row(
      'invocations by schedules, in millions',
      '',
      minutes.reduce((sum, one) => sum + one, 0) / 1e6,
      million.lambdaRequests,
    ),
  ]
}

/** Counts the metrics of alarms. An alarm with metric math costs as much as its metrics. */
const metricsOf = (alarms: [string, Resource][]): number =>
  alarms.reduce((sum, [, { Properties }]) => {
    const formula = (Properties?.Metrics ?? []).filter((one: { MetricStat?: unknown }) => one.MetricStat !== undefined)
    return sum + Math.max(1, formula.length)
  }, 0)

/** Builds the tables for a stage with every setting that has a fixed cost, except the edge, which only adds secrets. */
export const idleTables = async (): Promise<Table[]> => {
  const outdir = await mkdtemp(path.join(tmpdir(), 'idle-'))
  const { app } = createPlatform({
    config: readConfig({ stage: 'prod', waf: true }, {}),
    registry: { requestFunctions, workerFunctions },
    queues: QUEUES,
    bundles: path.resolve(import.meta.dirname, '../dist/functions'),
    app: { outdir },
  })
  const stacks = app.synth().stacks.map(({ template }) => template.Resources as Record<string, Resource>)
  await rm(outdir, { recursive: true, force: true })
  return [idleTable(idleCosts(Object.assign({}, ...stacks)))]
}

const idleTable = (costs: readonly IdleCost[]): Table => {
  const sum = (some: readonly IdleCost[]) => some.reduce((total, { count, each }) => total + count * each, 0)
  const always = costs.filter(({ setting }) => setting === '')
  const settings = [...new Set(costs.map(({ setting }) => setting))].filter((setting) => setting !== '')
  return {
    title: `A month without traffic, in US dollars (${PRICES.region}, list prices of ${PRICES.date})`,
    columns: ['item', 'with the setting', 'count', 'each', 'a month'],
    rows: [
      ...costs.map(({ what, setting, count, each }) => [
        what,
        setting,
        fixed(count, Number.isInteger(count) ? 0 : 2),
        fixed(each, 2),
        fixed(count * each, 2),
      ]),
      ['total without these settings', '', '', '', fixed(sum(always), 2)],
      ...settings.map((setting) => [
        `more with ${setting}`,
        setting,
        '',
        '',
        fixed(sum(costs.filter((cost) => cost.setting === setting)), 2),
      ]),
    ],
    notes: [
      'Counted in the synthesized templates of one stage. Check the prices in bench/prices.ts. Free tiers (ten alarms, three dashboards, a million requests to queues and to Lambda), storage, and the sweeper’s reads and run time aren’t included.',
      'Lambda keeps five long polls of 20 seconds open at each queue that it reads.',
    ],
  }
}
