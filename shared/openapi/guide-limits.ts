import { LIMITS } from '../kernel/limits.ts'
import { RETRY_DELAYS } from '../kernel/settings.ts'

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
  const often = perSecond < 1 ? `${Math.round(perSecond * 60)} a minute` : `${perSecond} a second`
  return `${often}, bursts of ${burst}`
}

/** One limit in words: rates, times by what they are called, sizes, and plain numbers. */
export const limitOf = (name: keyof typeof LIMITS): string => {
  const limit = LIMITS[name]
  if (limit === undefined) throw new Error(`there is no limit ${name}`)
  if (typeof limit === 'object') return rate(limit)
  if (/Bytes/.test(name)) return size(limit)
  if (/Life$|Answer$|Silence$|Deadline$|Overlap$|Wait$|Age$/.test(name)) return span(limit)
  return limit.toLocaleString('en')
}

/** The limits by what people call them (specification "Limits", decisions §1). */
const NAMES: [what: string, limit: keyof typeof LIMITS, after?: string][] = [
  ['Requests of an installation', 'installationRate'],
  ['Requests of an app, over all its installations', 'appRate'],
  ['Requests of a console user, developer or admin', 'callerRate'],
  ['OAuth requests of a client', 'clientRate'],
  ['Test runs of a developer account', 'testRunRate'],
  ['Agent-to-agent calls of an installation', 'agentCallRate'],
  ['Depth of a chain of agents', 'chainDepth'],
  ['Output of `ask_agent`', 'agentOutputCharacters', ' characters, then cut'],
  ['Active runs of an installation', 'activeRuns'],
  ['Open streams of a caller', 'streamsPerCaller'],
  ['Steps of a run', 'stepsPerRun'],
  ['Steps in one call', 'stepsPerCall'],
  ['Page size unless said', 'pageDefault'],
  ['Page size at most', 'pageMax'],
  ['Apps of a developer', 'appsPerDeveloper'],
  ['Webhook subscriptions of an installation', 'webhooksPerInstallation'],
  ['Redirect addresses of an app', 'redirectUrisPerApp'],
  ['Tools of a manifest', 'toolsPerManifest'],
  ['Manifest', 'manifestBytes'],
  ['Input, and output, of a run', 'runPayloadBytes'],
  ['Output of a step', 'stepOutputBytes'],
  ['Outputs of all steps of a run', 'stepOutputsPerRunBytes'],
  ['Data of an event', 'eventDataBytes'],
  ['File in a request, as text', 'fileTextBytes'],
  ['File in a request, as base64', 'fileBase64Bytes'],
  ['File by an upload address', 'fileUploadBytes'],
  ['Files of a workspace', 'filesPerWorkspace'],
  ['Files of a workspace together', 'fileBytesPerWorkspace'],
  ['Text of a message', 'messageCharacters', ' characters'],
  ['Access token', 'accessTokenLife'],
  ['Refresh token', 'refreshTokenLife', ' unused'],
  ['Callback token', 'callbackTokenLife'],
  ['Surface token', 'surfaceTokenLife'],
  ['Console session', 'consoleSessionLife'],
  ['Admin token', 'adminTokenLife'],
  ['Authorization code', 'codeLife'],
  ['Consent link', 'consentLife'],
  ['Invitation', 'invitationLife'],
  ['Idempotency key', 'idempotencyLife'],
  ['Events are kept', 'eventLife'],
  ['Webhook deliveries are kept', 'deliveryLife'],
  ['An app’s logs are kept', 'appLogLife'],
  ['Answer of an agent', 'agentAnswer'],
  ['Silence of an agent after 202', 'agentSilence'],
  ['An approval waits', 'approvalLife'],
  ['Answer of a webhook receiver', 'deliveryDeadline'],
  ['Failed deliveries in a row that disable a subscription', 'failuresToDisable'],
]

export const limitRows = (): [string, string][] =>
  NAMES.map(([what, limit, after = '']) => [what, `${limitOf(limit)}${after}`])

/** The delays after failed attempts; as many attempts as delays, so that the last is not reached (decisions §6). */
export const retrySchedule = (): string => {
  const delays = RETRY_DELAYS.split(',')
    .slice(0, -1)
    .map((seconds) => span(Number(seconds) * SECOND))
  return `${delays.slice(0, -1).join(', ')} and ${delays.at(-1)} after the attempt before, unless its operator changed it`
}
