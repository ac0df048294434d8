import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { readConfig } from '#infra/config.ts'
import { type FunctionPlan, planFunctions } from '#infra/plan.ts'
import { createPlatform } from '#infra/platform.ts'
import { KEYS_FRESH } from '#shared/adapters/secrets.ts'
import { QUEUES } from '#shared/foundation/queues/queues.ts'
import { isShown, QUEUE_AGE, titleOf } from '#shared/insight/observation/health.ts'
import { gbSeconds } from './cost/usage.ts'
import { ASSUMED, secretsOf } from './cost.ts'
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

/** Units of a sweep that finds nothing: a read of each shard of the index, and its mark. */
const READ_UNITS_OF_A_SHARD = 0.5
/** Requests of a journey without a run. */
const REQUESTS_OF_A_JOURNEY = 2
/** CPU of a scheduled invocation that finds nothing to do, in ms on a whole core. */
const SCHEDULED_CPU_MS = 10

/**
 * Computes the costs of a stage without traffic.
 * @param resources resources of all stacks by logical id
 * @param plans of the functions
 */
export const idleCosts = (
  resources: Record<string, Resource>,
  plans: readonly FunctionPlan[],
  { dueShards }: { dueShards: number },
): IdleCost[] => {
  const all = Object.entries(resources)
  const of = (type: string) => all.filter(([, resource]) => resource.Type === type)
  const alarms = of('AWS::CloudWatch::Alarm')
  const rollout = alarms.filter(([id]) => id.startsWith('Rollout'))
  const acls = of('AWS::WAFv2::WebACL')
  const queues = of('AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) => Properties?.ScalingConfig)
  const rounds = of('AWS::Events::Rule').flatMap(([id, { Properties }]) => {
    const every = /^rate\((\d+) minutes?\)$/.exec(Properties?.ScheduleExpression ?? '')?.[1]
    // A target that is a queue also wakes the function, later.
    return every === undefined ? [] : [{ id, count: (MINUTES_A_MONTH / Number(every)) * Properties.Targets.length }]
  })
  const roundsOf = (name: string) => sumOf(rounds.flatMap(({ id, count }) => (id.includes(name) ? [count] : [])))
  const scheduled = plans.filter(({ workers }) => workers.some(({ source }) => source.kind === 'schedule'))
  const secretReads = sumOf(scheduled.map(secretsOf)) * ((MINUTES_A_MONTH * 60_000) / KEYS_FRESH)
  const journeys = roundsOf('Journey') * REQUESTS_OF_A_JOURNEY
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
      sumOf(rounds.map(({ count }) => count)) / 1e6,
      million.lambdaRequests,
    ),
    row(
      'their GB-seconds, in thousands',
      '',
      (sumOf(rounds.map(({ count }) => count)) * SCHEDULED_GB_SECONDS) / 1e3,
      PRICES.lambdaArmGbSecond * 1e3,
    ),
    row(
      'read units of sweeps, in millions',
      '',
      (roundsOf('Sweeper') * dueShards * READ_UNITS_OF_A_SHARD) / 1e6,
      million.dynamodbReadUnits,
    ),
    row('write units of sweeps, in millions', '', roundsOf('Sweeper') / 1e6, million.dynamodbWriteUnits),
    row('reads of secrets by scheduled functions, in millions', '', secretReads / 1e6, million.secretReads),
    row('API requests of journeys, in millions', '', journeys / 1e6, million.apiGatewayRestRequests),
    row('requests of journeys to the web ACL, in millions', 'waf', journeys / 1e6, million.webAclRequests),
    row(
      'custom metrics, each in a month in which it is written',
      'traffic',
      customMetricsOf(alarms),
      month.customMetric,
    ),
    row(
      'metrics read by `GET /admin/health`, polled at least once a minute, in millions',
      'polled health',
      (readByHealth(alarms) * MINUTES_A_MONTH) / 1e6,
      million.metricReads,
    ),
  ]
}

const SCHEDULED_GB_SECONDS = gbSeconds({
  cpuMs: SCHEDULED_CPU_MS,
  waitMs: 2 * ASSUMED.storeRoundTripMs,
  memoryMb: 512,
})

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

type Read = { namespace: string; name: string; dimensions: unknown }

/** Lists the metrics of alarms. */
const readBy = (alarms: readonly [string, Resource][]): Read[] =>
  alarms.flatMap(([, { Properties }]) => {
    type Named = { Namespace?: string; MetricName?: string; Dimensions?: unknown }
    const formula: { MetricStat?: { Metric: Named } }[] = Properties?.Metrics ?? []
    const named: Named[] =
      formula.length > 0 ? formula.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) : [Properties]
    return named.map(({ Namespace = '', MetricName = '', Dimensions }) => ({
      namespace: Namespace,
      name: MetricName,
      dimensions: Dimensions,
    }))
  })

/** Counts the platform's own metrics. CloudWatch charges for one in the hours in which it is written. */
const customMetricsOf = (alarms: readonly [string, Resource][]): number =>
  new Set(readBy(alarms).flatMap((read) => (read.namespace.startsWith('AWS/') ? [] : [JSON.stringify(read)]))).size

/** Counts the values that a reading of the alarms takes from CloudWatch. */
const readByHealth = (alarms: readonly [string, Resource][]): number => {
  const shown = alarms.filter(([id]) => isShown(titleOf({ id })))
  // A queue's age comes with the number of its waiting messages.
  return readBy(shown).reduce((sum, { name }) => sum + (name === QUEUE_AGE ? 2 : 1), 0)
}

/** Counts the metrics of alarms. An alarm with metric math costs as much as its metrics. */
const metricsOf = (alarms: [string, Resource][]): number =>
  alarms.reduce((sum, [, { Properties }]) => {
    const formula = (Properties?.Metrics ?? []).filter((one: { MetricStat?: unknown }) => one.MetricStat !== undefined)
    return sum + Math.max(1, formula.length)
  }, 0)

/** Makes a folder with an empty bundle of each function: their contents make no difference to the bill. */
const emptyBundles = async (folder: string, plans: readonly FunctionPlan[]): Promise<string> => {
  for (const { name } of plans) {
    await mkdir(path.join(folder, name), { recursive: true })
    await writeFile(path.join(folder, name, 'index.cjs'), '')
  }
  return folder
}

/** Computes the costs of a production stage with the default settings. */
export const productionCosts = async (): Promise<IdleCost[]> => {
  const outdir = await mkdtemp(path.join(tmpdir(), 'idle-'))
  const registry = { requestFunctions, workerFunctions }
  const plans = planFunctions(registry)
  const config = readConfig({ stage: 'prod' }, {})
  const { app } = createPlatform({
    config,
    registry,
    queues: QUEUES,
    bundles: await emptyBundles(path.join(outdir, 'bundles'), plans),
    app: { outdir: path.join(outdir, 'templates'), treeMetadata: false, analyticsReporting: false },
  })
  const stacks = app.synth().stacks.map(({ template }) => template.Resources as Record<string, Resource>)
  await rm(outdir, { recursive: true, force: true })
  return idleCosts(Object.assign({}, ...stacks), plans, { dueShards: config.dueShards })
}

export const idleTables = async (): Promise<Table[]> => [idleTable(await productionCosts())]

/** Parts of the bill that are on by default in production. */
const PRODUCTION = ['', 'deployment', 'waf']

/** Dollars a month of a production stage without traffic. */
export const productionTotal = (costs: readonly IdleCost[]): number =>
  sumOf(costs.filter(({ setting }) => PRODUCTION.includes(setting)).map(({ count, each }) => count * each))

const idleTable = (costs: readonly IdleCost[]): Table => {
  const sum = (some: readonly IdleCost[]) => some.reduce((total, { count, each }) => total + count * each, 0)
  const always = costs.filter(({ setting }) => setting === '')
  const settings = [...new Set(costs.map(({ setting }) => setting))].filter((setting) => setting !== '')
  return {
    title: `A month without traffic, in US dollars (${PRICES.region}, list prices of ${PRICES.date})`,
    columns: ['item', 'with', 'count', 'each', 'a month'],
    rows: [
      ...costs.map(({ what, setting, count, each }) => [
        what,
        setting,
        fixed(count, Number.isInteger(count) ? 0 : 2),
        fixed(each, 2),
        fixed(count * each, 2),
      ]),
      ['total without these', '', '', '', fixed(sum(always), 2)],
      ...settings.map((setting) => [
        `more with ${setting}`,
        setting,
        '',
        '',
        fixed(sum(costs.filter((cost) => cost.setting === setting)), 2),
      ]),
      ['total of a production stage: with deployment and waf', '', '', '', fixed(productionTotal(costs), 2)],
    ],
    notes: [
      'Counted in the synthesized templates of a production stage with the default settings. Check the prices in bench/prices.ts. Free tiers (ten alarms, three dashboards, a million requests to queues and to Lambda), storage and logs aren’t included.',
      `A sweep that finds nothing writes no metric. Scheduled invocations count with ${SCHEDULED_CPU_MS} ms of CPU and two round trips to the store.`,
      'Lambda keeps five long polls of 20 seconds open at each queue that it reads.',
    ],
  }
}
