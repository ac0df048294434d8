import * as z from 'zod'
import { nearest } from '#shared/kernel/nearest.ts'
import { RETRY_PRESETS } from '#shared/kernel/settings/retry-presets.ts'
import { Settings } from './settings.ts'

/** CDK context: `context` in `cdk.json`, overridden by `-c key=value`. */
export type Context = Record<string, unknown>

/** Configuration of the stacks. */
export type Config = Omit<Settings, 'waf'> & {
  waf: boolean
  /** Serves customers: protections with a price are on unless they are turned off. */
  production: boolean
  /** Part of the names of stacks and addresses, so that several stages can share an account. */
  stage: string
  /** Prefix of the stacks' names. */
  prefix: string
  /** Region to deploy to. Absent for an environment-agnostic synth. */
  region: string | undefined
}

/** Error for invalid deployment settings. The message has a line for each, with the setting's name and the fix. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const Stage = z.string().regex(/^[a-z][a-z0-9-]{0,19}$/, 'use up to 20 lower-case letters, digits and hyphens')
const Prefix = z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,29}$/, 'use up to 30 letters, digits and hyphens')
const notSettings = ['stage', 'stages', 'prefix', 'packageScope', 'cli-telemetry']

/**
 * Reads the settings of one stage: the defaults, then `context.stages.<stage>`, then the command line.
 *
 * The stage is `-c stage=`, else `DEPLOY_STAGE`, else `dev`. The CDK's own keys in the context (with a colon, a slash or an at sign)
 * are ignored. Any other unknown key is an error, so that a misspelled setting isn't silently ignored.
 *
 * @throws {ConfigError} that names each invalid setting and its fix
 */
export function readConfig(context: Context, env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const check = <T>(name: string, schema: z.ZodType<T>, value: unknown, fix: string): T | undefined => {
    const result = schema.safeParse(value)
    if (result.success) return result.data
    problems.push(`${name}: ${result.error.issues.map((issue) => issue.message).join('; ')} (${fix})`)
    return undefined
  }

  const stage = check('stage', Stage, context.stage ?? env.DEPLOY_STAGE ?? 'dev', 'set DEPLOY_STAGE or -c stage=')
  const prefix = check('prefix', Prefix, context.prefix ?? 'Platform', 'set -c prefix= or context.prefix in cdk.json')
  const stages = check(
    'stages',
    z.record(z.string(), z.record(z.string(), z.unknown())),
    context.stages ?? {},
    'in cdk.json',
  )
  const overrides = Object.entries(context).filter(([key]) => !notSettings.includes(key) && !/[:/@]/.test(key))
  const given = { ...stages?.[stage ?? ''], ...Object.fromEntries(overrides) }
  const where = (name: string) =>
    overrides.some(([key]) => key === name) ? `given as -c ${name}=` : `set context.stages.${stage}.${name} in cdk.json`

  const production = isProduction(stage)
  const result = Settings.safeParse({ waf: production, ...given })
  for (const issue of result.success ? [] : result.error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys)
        problems.push(`${[...issue.path, key].join('.')}: no such setting${suggestion(key)} (${where(key)})`)
    } else {
      problems.push(`${issue.path.join('.')}: ${issue.message} (${where(String(issue.path[0]))})`)
    }
  }
  const region = env.CDK_DEFAULT_REGION ?? env.AWS_REGION
  if (result.success && result.data.webhookRetryPreset !== undefined && 'webhookRetryDelaysSeconds' in given) {
    problems.push(
      `webhookRetryPreset: is a schedule, and webhookRetryDelaysSeconds gives another; leave one of them out (${where('webhookRetryPreset')})`,
    )
  }
  if (result.success && stage !== undefined) problems.push(...contradictions(stage, result.data, region))
  if (result.success && result.data.edge && region === undefined) {
    problems.push('edge: the region must be known, because a part is deployed to us-east-1 (set AWS_REGION)')
  }
  if (problems.length > 0 || !result.success || stage === undefined || prefix === undefined) {
    throw new ConfigError(`The deployment settings are wrong:\n${problems.map((line) => `  - ${line}`).join('\n')}`)
  }
  const { webhookRetryPreset: preset } = result.data
  const schedule = preset && { webhookRetryDelaysSeconds: [...RETRY_PRESETS[preset]] }
  return { ...result.data, ...schedule, waf: result.data.waf ?? false, production, stage, prefix, region }
}

/** Returns true for the names of stages that serve customers. */
const isProduction = (stage: string | undefined): boolean => /^(prod|production|live)\b/.test(stage ?? '')

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/

/** Finds combinations of settings that would open up a deployment, lose data, or not work. */
function contradictions(stage: string, settings: Settings, region: string | undefined): string[] {
  const development = stage === 'local' || stage === 'emulator'
  const problems: string[] = []
  const refuse = (name: string, why: string) => problems.push(`${name}: ${why}`)
  for (const name of ['consoleAutoProvision', 'allowLoopbackTargets', 'localAdmin'] as const) {
    if (settings[name] && !development) {
      refuse(
        name,
        `opens the platform up for development, so it works in the stages local and emulator only; leave it out of ${stage}`,
      )
    }
  }
  if (!settings.streaming && !development) {
    refuse(
      'streaming',
      'false is for emulators that cannot stream: calls that wait on an agent would end after 29 seconds; leave it true',
    )
  }
  if (!settings.edgeLog && !development) {
    refuse(
      'edgeLog',
      'false is for emulators that can’t deliver logs: requests to the edge would be in no log; leave it true',
    )
  }
  if (!settings.alarmFormulas && !development) {
    refuse(
      'alarmFormulas',
      'false is for emulators without such alarms: functions that fail would raise none; leave it true',
    )
  }
  for (const name of ['dueShards', 'counterShards'] as const) {
    if ((settings[name] ?? settings.directoryShards) < settings.directoryShards) {
      refuse(
        name,
        `is below directoryShards (${settings.directoryShards}), which was used before, so records of the other shards would never be read; use at least ${settings.directoryShards}`,
      )
    }
  }
  if (settings.baseUrl !== undefined && !settings.baseUrl.startsWith('https://') && !development) {
    refuse('baseUrl', 'must begin with https://, because tokens and secrets travel to it')
  }
  for (const name of ['telegramApiUrl', 'telegramLinkUrl', 'modelApiUrl'] as const) {
    const given = settings[name]
    if (given === undefined) continue
    const url = new URL(given)
    if (url.protocol !== 'https:' && !(development && LOOPBACK.test(url.hostname))) {
      refuse(name, 'must begin with https://; http is for a stand-in on this machine in the stages local and emulator')
    }
    if (url.search !== '' || url.hash !== '' || url.username !== '') {
      refuse(name, 'is an address that paths are appended to: leave out the query, the fragment and the credentials')
    }
  }
  if (!settings.retainData && isProduction(stage)) {
    refuse('retainData', `false would delete the data of ${stage} with its stack; leave it true`)
  }
  if (settings.domainName !== undefined && settings.certificateArn === undefined) {
    refuse('certificateArn', 'is needed with domainName: the ARN of the certificate in ACM for that name')
  }
  if (settings.domainName === undefined && (settings.certificateArn ?? settings.hostedZone) !== undefined) {
    refuse('domainName', 'is needed with certificateArn and hostedZone: set the platform’s domain')
  }
  if (settings.costMonitorArn !== undefined && settings.monthlyBudget === undefined) {
    refuse('monthlyBudget', 'is needed with costMonitorArn: anomalies are reported above 5 % of it')
  }
  if (settings.backupCopyVaultArn !== undefined && !settings.backup) {
    refuse('backup', 'is needed with backupCopyVaultArn: set it to true')
  }
  const elsewhere = (given: string | undefined) => given !== undefined && region !== undefined && given !== region
  const topicRegion = settings.alarmTopicArn?.split(':')[3]
  if (elsewhere(topicRegion)) {
    refuse('alarmTopicArn', `is in ${topicRegion}; alarms of ${region} reach topics of ${region} only`)
  }
  if (settings.waf && settings.edge && region !== 'us-east-1') {
    refuse(
      'waf',
      'with edge the web ACL is CloudFront’s and has to be in us-east-1: deploy the stage there (AWS_REGION=us-east-1 npm run deploy), or set one of them to false',
    )
  }
  const keyRegion = settings.kmsKeyArn?.split(':')[3]
  if (elsewhere(keyRegion)) {
    refuse('kmsKeyArn', `is in ${keyRegion}; a stage in ${region} is encrypted with keys of ${region} only`)
  }
  for (const name of Object.keys(settings.provisionedConcurrency)) {
    const ceiling = settings.reservedConcurrency?.[name]
    const warm = settings.provisionedConcurrency[name] ?? 0
    if (ceiling !== undefined && warm > ceiling)
      refuse('provisionedConcurrency', `${name} keeps ${warm} warm, but reservedConcurrency lets it have ${ceiling}`)
  }
  if (Object.keys(settings.tags).includes('stage')) {
    refuse('tags', 'stage is what tells the stages apart; leave it out')
  }
  const certificateRegion = settings.certificateArn?.split(':')[3]
  if (settings.edge && certificateRegion !== undefined && certificateRegion !== 'us-east-1') {
    refuse('certificateArn', `is in ${certificateRegion}; CloudFront takes certificates of us-east-1 only`)
  }
  if (!settings.edge && elsewhere(certificateRegion)) {
    refuse('certificateArn', `is in ${certificateRegion}; without edge the API takes certificates of ${region} only`)
  }
  for (const setting of ['restoredTableStreamArn', 'restoredAuditTableArn'] as const) {
    const tableRegion = settings[setting]?.split(':')[3]
    if (elsewhere(tableRegion)) {
      refuse(setting, `is in ${tableRegion}; a stage in ${region} uses tables of ${region} only`)
    }
  }
  return problems
}

/** Returns the setting that a misspelled or shortened name most likely means, or all settings. */
function suggestion(key: string): string {
  const names = Object.keys(Settings.shape)
  const begins = (name: string) => name.toLowerCase().startsWith(key.toLowerCase())
  const meant = nearest(key, names) ?? names.find(begins)
  return meant === undefined ? `; the settings are ${names.join(', ')}` : `; did you mean ${meant}?`
}
