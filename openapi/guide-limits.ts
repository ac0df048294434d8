import { LIMITS } from '#shared/kernel/limits.ts'
import { FUNCTION_SETTINGS } from '#shared/kernel/settings/declared.ts'

const SECOND = 1_000

const span = (milliseconds: number): string => {
  const units: [number, string][] = [
    [86_400 * SECOND, 'day'],
    [3_600 * SECOND, 'hour'],
    [60 * SECOND, 'minute'],
    [SECOND, 'second'],
  ]
  const [length, name] = units.find(([unit]) => milliseconds >= unit && milliseconds % unit === 0) ?? [1, 'millisecond']
  const count = milliseconds / length
  return `${count.toLocaleString('en')} ${name}${count === 1 ? '' : 's'}`
}

const UNITS: [bytes: number, name: string][] = [
  [1_024 ** 3, 'GiB'],
  [1_024 ** 2, 'MiB'],
  [1_024, 'KiB'],
]
const size = (bytes: number): string => {
  const [unit, name] = UNITS.find(([unit]) => bytes >= unit) ?? [1, 'bytes']
  return `${bytes / unit} ${name}`
}

const rate = ({ perSecond, burst }: { perSecond: number; burst: number }): string => {
  const frequency = perSecond < 1 ? `${Math.round(perSecond * 60)} per minute` : `${perSecond} per second`
  return `${frequency}, bursts of ${burst}`
}

/** Formats a limit as a rate, duration, size or plain number. Its name tells which. */
export const formatLimit = (name: keyof typeof LIMITS): string => {
  const limit = LIMITS[name]
  if (limit === undefined) throw new Error(`Unknown limit: ${name}`)
  if (typeof limit === 'object') return rate(limit)
  if (/Bytes/.test(name)) return size(limit)
  if (/Life$|Answer$|Silence$|Deadline$|Overlap$|Wait$|Age$/.test(name)) return span(limit)
  return limit.toLocaleString('en')
}

/** Descriptions of the limits for the guide (contract/limits.md). */
const NAMES: [what: string, limit: keyof typeof LIMITS, after?: string][] = [
  ['Requests per installation', 'installationRate'],
  ['Requests per app, across all installations', 'appRate'],
  ['Requests per console user, developer or admin', 'callerRate'],
  ['OAuth requests per client', 'clientRate'],
  ['Test runs per developer account', 'testRunRate'],
  ['Agent-to-agent calls per installation', 'agentCallRate'],
  ['Depth of a chain of agents', 'chainDepth'],
  ['Output of `ask_agent`', 'agentOutputCharacters', ' characters, then truncated'],
  ['Active runs per installation', 'activeRuns'],
  ['Open streams per caller', 'streamsPerCaller'],
  ['Steps per run', 'stepsPerRun'],
  ['Steps per request', 'stepsPerCall'],
  ['Default page size', 'pageDefault'],
  ['Maximum page size', 'pageMax'],
  ['Apps per developer', 'appsPerDeveloper'],
  ['Webhook subscriptions per installation', 'webhooksPerInstallation'],
  ['Redirect addresses per app', 'redirectUrisPerApp'],
  ['Tools per manifest', 'toolsPerManifest'],
  ['Proposed schedules per manifest', 'schedulesPerManifest'],
  ['Size of a manifest', 'manifestBytes'],
  ['Size of a run’s input, and of its output', 'runPayloadBytes'],
  ['Size of a step’s output', 'stepOutputBytes'],
  ['Total size of all step outputs of a run', 'stepOutputsPerRunBytes'],
  ['Size of an event’s data', 'eventDataBytes'],
  ['Size of a file sent in a request as text', 'fileTextBytes'],
  ['Size of a file sent in a request as base64', 'fileBase64Bytes'],
  ['Size of a file sent to an upload URL', 'fileUploadBytes'],
  ['Files per workspace', 'filesPerWorkspace'],
  ['Total size of files per workspace', 'fileBytesPerWorkspace'],
  ['Total size of files per sandbox', 'fileBytesPerSandbox'],
  ['Outgoing requests of a sandbox', 'sandboxEgressRate'],
  ['Outgoing requests of all sandboxes to one host', 'sandboxHostRate'],
  ['Runs a day of an inline agent for one messenger contact', 'contactRunsPerDay'],
  ['Length of a message', 'messageCharacters', ' characters'],
  ['Lifetime of an access token', 'accessTokenLife'],
  ['Lifetime of an unused refresh token', 'refreshTokenLife'],
  ['Lifetime of a callback token', 'callbackTokenLife'],
  ['Lifetime of a surface token', 'surfaceTokenLife'],
  ['Lifetime of a console session', 'consoleSessionLife'],
  ['Lifetime of an admin token', 'adminTokenLife'],
  ['Lifetime of an authorization code', 'codeLife'],
  ['Lifetime of a consent link', 'consentLife'],
  ['Lifetime of an invitation', 'invitationLife'],
  ['Lifetime of an idempotency key', 'idempotencyLife'],
  ['Retention of events', 'eventLife'],
  ['Retention of webhook deliveries', 'deliveryLife'],
  ['Retention of an app’s logs', 'appLogLife'],
  ['Time for an agent to answer', 'agentAnswer'],
  ['Time between an agent’s calls after it answers 202', 'agentSilence'],
  ['Time for a person to decide on an approval', 'approvalLife'],
  ['Time for a webhook receiver to respond', 'deliveryDeadline'],
  ['Failed deliveries in a row until a subscription is disabled', 'failuresToDisable'],
]

export const limitRows = (): [string, string][] =>
  NAMES.map(([what, limit, after = '']) => [what, `${formatLimit(limit)}${after}`])

/**
 * Formats the delays between delivery attempts. There are as many attempts as configured delays, so the last delay is never
 * used (contract/events-and-webhooks.md#retries).
 */
export const formatRetrySchedule = (
  schedule: readonly number[] = FUNCTION_SETTINGS.webhookRetryDelaysSeconds.default,
): string => {
  const delays = schedule.slice(0, -1).map((seconds) => span(seconds * SECOND))
  return `${delays.slice(0, -1).join(', ')} and ${delays.at(-1)}`
}
