import {
  answerOf,
  buildCard,
  buildLegacyCard,
  cancelTask,
  createPush,
  deletePush,
  findPush,
  findTask,
  hasSeenAll,
  isStill,
  listTasks,
  loadOutput,
  loadPushes,
  type Message,
  type Position,
  type PushConfig,
  positionAt,
  presentPush,
  presentTask,
  readMessage,
  type Shown,
  type TaskEvent,
  type TaskState,
  takeMessage,
  taskEvents,
  timeOf,
  waitForTask,
} from '#shared/agents/a2a/index.ts'
import { newRunInPlace } from '#shared/agents/dispatch/index.ts'
import { handOver } from '#shared/delivery/fan-out/index.ts'
import { A2aError } from '#shared/kernel/a2a-error.ts'
import { unknownOwnKeys } from '#shared/kernel/own-keys.ts'
import { isActive, type Run } from '#shared/work/runs/index.ts'
import { type Asking, requireCallable, type Version } from './scene.ts'

type Json = Record<string, unknown>

/** Elements of an answer that is streamed. */
export type Events = (signal: AbortSignal) => AsyncIterable<TaskEvent | undefined>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const invalid = (field: string, text: string) => new A2aError('INVALID_PARAMS', { fields: { [field]: [text] } })

/** The platform has no tenants below an agent's address. @throws {A2aError} `INVALID_PARAMS` */
const requireNoTenant = ({ tenant = '' }: Json): void => {
  if (tenant !== '') throw invalid('tenant', 'must be absent: this agent has no tenants')
}

const countOf = (params: Json, field: string, most: number): number | undefined => {
  const value = params[field]
  if (value === undefined || value === null) return undefined
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most) return Number(value)
  throw invalid(field, `must be an integer from 0 to ${most}`)
}

const shownOf = (params: Json): Shown => ({ historyLength: countOf(params, 'historyLength', 1_000) })

const AUDIENCE = 'aip/audience'
const AUDIENCES: readonly unknown[] = ['member', 'external']

/** Refuses keys of ours that don't exist. @throws {A2aError} `INVALID_PARAMS` */
const requireKnownMetadata = (metadata: unknown, at: string, known: readonly string[] = []): void => {
  const unknown = unknownOwnKeys(metadata, known)
  if (unknown.length === 0) return
  const text = known.length === 0 ? 'doesn’t exist here' : `doesn’t exist. Known: ${known.join(', ')}`
  const fields = Object.fromEntries(unknown.map((name) => [`${at}.${name.slice(0, 100)}`, [text]]))
  throw new A2aError('INVALID_PARAMS', { fields })
}

/** Returns the audience that a request names in its own metadata or in its message's: external if either says so. */
const audienceOf = (message: Message, params: Json): 'member' | 'external' | undefined => {
  const given = [
    ['message.metadata', message.metadata],
    ['metadata', params.metadata],
  ] as const
  for (const [n, part] of message.parts.entries()) requireKnownMetadata(part.metadata, `message.parts.${n}.metadata`)
  const audiences = given.flatMap(([at, metadata]) => {
    requireKnownMetadata(metadata, at, [AUDIENCE])
    const audience = isObject(metadata) ? metadata[AUDIENCE] : undefined
    if (audience !== undefined && !AUDIENCES.includes(audience))
      throw invalid(`${at}.${AUDIENCE}`, 'must be member or external')
    return audience === undefined ? [] : [audience as 'member' | 'external']
  })
  return audiences.includes('external') ? 'external' : audiences[0]
}

const sendingOf = (params: Json, version: Version, streams: boolean) => {
  requireNoTenant(params)
  const message = readMessage(params.message)
  const configuration = isObject(params.configuration) ? params.configuration : {}
  const { taskPushNotificationConfig } = configuration
  const push = isObject(taskPushNotificationConfig)
    ? { version, config: pushConfigOf(taskPushNotificationConfig, 'configuration.taskPushNotificationConfig.') }
    : undefined
  const audience = audienceOf(message, params)
  const waits = !streams && configuration.returnImmediately !== true
  const detached = !waits || push !== undefined
  return { sending: { message, audience, detached, push }, waits, shown: shownOf(configuration) }
}

/** @throws {A2aError} `INVALID_PARAMS` for a missing or empty text, and for another type */
export const required = (params: Json, field: string): string => {
  const value = textOf(params, field)
  if (value === undefined) throw invalid(field, 'is required')
  return value
}

/** `SendMessage`: `{task}`, or `{message}` if the agent answers a first, blocking message with one. */
export const sendMessage = async (asking: Asking, params: Json, version: Version): Promise<Json> => {
  const { work, scene } = asking
  const { sending, waits, shown } = sendingOf(params, version, false)
  if (waits) return handOver(work, (handing) => sendAndWait({ ...asking, work: handing }, sending, shown))
  return { task: await presentTask(work, (await takeMessage(work, scene, sending)).run, shown) }
}

/** Sends a message and waits for its task, whose agent the request calls itself (architecture.md#runs-in-place). */
const sendAndWait = async (
  { work, scene }: Asking,
  sending: Parameters<typeof takeMessage>[2],
  shown: Parameters<typeof presentTask>[2],
): Promise<Json> => {
  const { run: taken, isFirst, open } = await takeMessage(work, scene, { ...sending, inPlace: newRunInPlace })
  let run = taken
  try {
    if (isActive(taken.status)) run = await waitForTask(work, scene, taken, open)
  } finally {
    if (!isActive(run.status)) open?.drop()
    // The function freezes after its response. The request of a task that waits for a person is kept to its end.
    await open?.over
  }
  const message = isFirst && run.status === 'succeeded' ? answerOf(run, await loadOutput(work, run)) : undefined
  return message ? { message } : { task: await presentTask(work, run, shown) }
}

/** `SendStreamingMessage`: the task, then what happens to it. Repeated with `Last-Event-ID`, it continues after that event. */
export const sendStreamingMessage = async (asking: Asking, params: Json, version: Version): Promise<Events> => {
  const { work, scene, headers } = asking
  const { sending } = sendingOf(params, version, true)
  const position = positionOf(headers['last-event-id'])
  const { run } = await takeMessage(work, scene, sending)
  return (signal) => taskEvents(work, run, startFor(run, position), signal)
}

/** `SubscribeToTask`: the task, then what happens to it; with `Last-Event-ID`, what the reader missed. */
export const subscribeToTask = async (asking: Asking, params: Json): Promise<Events> => {
  const { run, position } = await subscription(asking, params)
  return (signal) => taskEvents(asking.work, run, startFor(run, position), signal)
}

/**
 * `SubscribeToTask` for readers that reconnect by themselves, as `EventSource` does.
 * @returns undefined when the reader has seen everything of a task that waits for them: nothing follows until they answer
 */
export const followTask = async (asking: Asking, params: Json): Promise<Events | undefined> => {
  const { run, position } = await subscription(asking, params)
  if (position && isStill(run, position)) return undefined
  return (signal) => taskEvents(asking.work, run, position, signal)
}

/** @throws {A2aError} `TASK_NOT_FOUND`, `UNSUPPORTED_OPERATION` once the task has ended and the reader has seen it */
const subscription = async (asking: Asking, params: Json) => {
  requireNoTenant(params)
  const { work, scene, headers } = asking
  const run = await findTask(work, scene, required(params, 'id'))
  const position = positionOf(headers['last-event-id'])
  const isOver = !isActive(run.status) && (position === undefined || hasSeenAll(run, position))
  if (isOver)
    throw new A2aError('UNSUPPORTED_OPERATION', { message: 'The task has ended.', fix: 'Read it with GetTask.' })
  return { run, position }
}

/** A reader who has missed nothing of a task that waits for them gets the task, and not an empty stream. */
const startFor = (run: Run, position: Position | undefined): Position | undefined =>
  position && isStill(run, position) ? undefined : position

const positionOf = (id = '') => {
  if (id === '') return undefined
  const position = positionAt(id)
  if (position) return position
  throw invalid('Last-Event-ID', 'must be the id of an event of this task')
}

/** `GetTask` */
export const getTask = async ({ work, scene }: Asking, params: Json): Promise<Json> => {
  requireNoTenant(params)
  return presentTask(work, await findTask(work, scene, required(params, 'id')), shownOf(params))
}

/** `CancelTask` */
export const cancel = async ({ work, scene }: Asking, params: Json): Promise<Json> => {
  requireNoTenant(params)
  requireKnownMetadata(params.metadata, 'metadata')
  return cancelTask(work, scene, required(params, 'id'))
}

const STATES: readonly TaskState[] = [
  'SUBMITTED',
  'WORKING',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'CANCELED',
]

const PAGE = { standard: 50, most: 100 }

const textOf = (params: Json, field: string): string | undefined => {
  const value = params[field]
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string') return value
  throw invalid(field, 'must be a string')
}

/** `ListTasks` */
export const list = async ({ work, scene }: Asking, params: Json): Promise<Json> => {
  requireNoTenant(params)
  const status = textOf(params, 'status')
  const state = STATES.find((one) => status === `TASK_STATE_${one}`)
  if (status !== undefined && status !== 'TASK_STATE_UNSPECIFIED' && !state) {
    throw invalid('status', `must be one of ${STATES.map((one) => `TASK_STATE_${one}`).join(', ')}`)
  }
  const pageSize = countOf(params, 'pageSize', PAGE.most) ?? PAGE.standard
  if (pageSize === 0) throw invalid('pageSize', `must be an integer from 1 to ${PAGE.most}`)
  const changedSince = textOf(params, 'statusTimestampAfter')
  return listTasks(work, scene, {
    contextId: textOf(params, 'contextId'),
    state,
    changedSince: changedSince === undefined ? undefined : timeOf(changedSince),
    pageSize,
    pageToken: textOf(params, 'pageToken'),
    ...shownOf(params),
    withArtifacts: params.includeArtifacts === true,
  })
}

/** `GetExtendedAgentCard` */
export const extendedCard = async (asking: Asking, params: Json): Promise<Json> => {
  requireNoTenant(params)
  await requireCallable(asking)
  return (await buildCard(asking.work, asking.scene.agent, true)).json
}

/** The extended card of version 0.3. */
export const legacyExtendedCard = async (asking: Asking): Promise<Json> => {
  await requireCallable(asking)
  return (await buildLegacyCard(asking.work, asking.scene.agent, true)).json
}

const pushConfigOf = (params: Json, at = ''): PushConfig => {
  const invalidField = (field: string, text: string) => invalid(`${at}${field}`, text)
  const text = (value: unknown, field: string, most: number): string | undefined => {
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value === 'string' && value.length <= most) return value
    throw invalidField(field, `must be a string of up to ${most} characters`)
  }
  const header = (value: unknown, field: string, most: number): string | undefined => {
    const given = text(value, field, most)
    if (given === undefined || /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(given)) return given
    throw invalidField(field, 'must be printable ASCII, because it is sent in a header')
  }
  const url = text(params.url, 'url', 2_048)
  if (url === undefined) throw invalidField('url', 'is required')
  const id = text(params.id, 'id', 128)
  const token = header(params.token, 'token', 1_024)
  if (params.authentication === undefined || params.authentication === null) return { id, url, token }
  const { scheme, credentials } = isObject(params.authentication) ? params.authentication : {}
  const name = header(scheme, 'authentication.scheme', 64)
  if (name === undefined || /\s/.test(name))
    throw invalidField('authentication.scheme', 'must be a scheme such as Bearer')
  return {
    id,
    url,
    token,
    authentication: { scheme: name, credentials: header(credentials, 'authentication.credentials', 4_096) },
  }
}

/** `CreateTaskPushNotificationConfig`. The version decides what is sent. */
export const createPushConfig = async ({ work, scene }: Asking, params: Json, version: Version): Promise<Json> => {
  requireNoTenant(params)
  const run = await findTask(work, scene, required(params, 'taskId'))
  return { ...(await createPush(work, scene, run, version, pushConfigOf(params))) }
}

/** `GetTaskPushNotificationConfig` */
export const getPushConfig = async ({ work, scene }: Asking, params: Json): Promise<Json> => {
  requireNoTenant(params)
  const run = await findTask(work, scene, required(params, 'taskId'))
  return { ...presentPush(await findPush(work, run, textOf(params, 'id'))) }
}

/** `ListTaskPushNotificationConfigs` */
export const listPushConfigs = async ({ work, scene }: Asking, params: Json): Promise<Json> => {
  requireNoTenant(params)
  const { id } = await findTask(work, scene, required(params, 'taskId'))
  return { configs: (await loadPushes(work, id)).map(presentPush), nextPageToken: '' }
}

/** `DeleteTaskPushNotificationConfig` */
export const deletePushConfig = async ({ work, scene }: Asking, params: Json): Promise<Json> => {
  requireNoTenant(params)
  await deletePush(work, await findTask(work, scene, required(params, 'taskId')), required(params, 'id'))
  return {}
}
