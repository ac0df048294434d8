import { isObject } from '#shared/kernel/json-schema/json-object.ts'

/**
 * Translates between the JSON of version 1.0, in which the platform thinks, and the two forms of version 0.3: that of its
 * JSON-RPC binding (`kind`, lower-case states), and the JSON of its protocol buffers, which its HTTP+JSON clients speak.
 */

type Json = Record<string, unknown>

const defined = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const objectsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Form of 0.3: `kind` of JSON-RPC, `proto` of HTTP+JSON. */
export type Form = 'kind' | 'proto'

/** Version 0.3 has objects as data only. Other values go into one. */
const dataOf = (data: unknown): Json => (isObject(data) ? data : { value: data })

const partTo = (form: Form, { text, raw, url, data, mediaType, filename, metadata }: Json): Json => {
  const more = { metadata }
  if (form === 'kind') {
    if (text !== undefined) return defined({ kind: 'text', text, ...more })
    if (data !== undefined) return defined({ kind: 'data', data: dataOf(data), ...more })
    return defined({
      kind: 'file',
      file: defined({ bytes: raw, uri: url, mimeType: mediaType, name: filename }),
      ...more,
    })
  }
  if (text !== undefined) return { text }
  if (data !== undefined) return { data: { data: dataOf(data) } }
  return { file: defined({ fileWithBytes: raw, fileWithUri: url, mimeType: mediaType }) }
}

const partFrom = (part: Json): Json => {
  const { text, metadata } = part
  if (typeof text === 'string') return defined({ text, metadata })
  if (isObject(part.file)) {
    const { bytes, uri, fileWithBytes, fileWithUri, mimeType, name } = part.file
    return defined({
      raw: bytes ?? fileWithBytes,
      url: uri ?? fileWithUri,
      mediaType: mimeType,
      filename: name,
      metadata,
    })
  }
  const data = part.kind === undefined && isObject(part.data) && 'data' in part.data ? part.data.data : part.data
  return defined({ data, metadata })
}

const ROLES = { ROLE_USER: 'user', ROLE_AGENT: 'agent' } as const

/** Returns a message in a form of 0.3. */
export const messageTo = (form: Form, { parts, role, ...message }: Json): Json => {
  const content = objectsOf(parts).map((part) => partTo(form, part))
  return form === 'kind'
    ? { kind: 'message', ...message, role: ROLES[role as keyof typeof ROLES], parts: content }
    : { ...message, role, content }
}

/** Reads a message of either form. The check of version 1.0 finds missing and wrong fields. */
export const messageFrom = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { kind: _kind, role, parts, content, ...message } = value
  return {
    ...message,
    role: role === 'user' ? 'ROLE_USER' : role,
    parts: Array.isArray(parts ?? content) ? objectsOf(parts ?? content).map(partFrom) : undefined,
  }
}

/**
 * Returns the parameters of a message of 0.3 as those of 1.0. Over JSON-RPC, only an explicit `blocking: false` doesn't wait.
 * The JSON of protocol buffers leaves out what is false, so there only an explicit `true` waits.
 */
export const sendingFrom = (form: Form, { message, configuration, metadata }: Json): Json => {
  const { blocking, pushNotification, pushNotificationConfig, ...rest } = isObject(configuration) ? configuration : {}
  const push = pushNotificationConfig ?? pushNotification
  return defined({
    message: messageFrom(message),
    metadata,
    configuration: defined({
      ...rest,
      returnImmediately: form === 'kind' ? blocking === false : blocking !== true,
      taskPushNotificationConfig: isObject(push) ? pushFrom({ pushNotificationConfig: push }) : push,
    }),
  })
}

const stateTo = (form: Form, state: string): string => {
  if (form === 'proto') return state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state
  return state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-')
}

const stateFrom = (state: unknown): unknown => {
  if (typeof state !== 'string') return state
  const name = state.startsWith('TASK_STATE_') ? state : `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`
  return name === 'TASK_STATE_CANCELLED' ? 'TASK_STATE_CANCELED' : name
}

/** Reads a task of either form. Its reader handles missing and wrong fields. */
export const taskFrom = ({ status, artifacts, ...task }: Json): Json =>
  defined({
    ...task,
    status: isObject(status)
      ? defined({ ...status, state: stateFrom(status.state), message: messageFrom(status.message) })
      : undefined,
    artifacts: objectsOf(artifacts).map(({ parts, ...artifact }) => ({
      ...artifact,
      parts: objectsOf(parts).map(partFrom),
    })),
  })

const statusTo = (form: Form, { state, message, ...status }: Json): Json =>
  defined({
    ...status,
    state: stateTo(form, String(state)),
    message: isObject(message) ? messageTo(form, message) : undefined,
  })

const artifactTo = (form: Form, { parts, ...artifact }: Json): Json => ({
  ...artifact,
  parts: objectsOf(parts).map((part) => partTo(form, part)),
})

export const taskTo = (form: Form, { status, artifacts, history, ...task }: Json): Json =>
  defined({
    ...(form === 'kind' && { kind: 'task' }),
    ...task,
    status: statusTo(form, status as Json),
    artifacts: artifacts && objectsOf(artifacts).map((artifact) => artifactTo(form, artifact)),
    history: history && objectsOf(history).map((message) => messageTo(form, message)),
  })

/** States that end a stream. */
const FINAL: readonly unknown[] = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_CANCELED',
]

/** Returns an element of a stream, or the result of a message, in a form of 0.3. */
export const elementTo = (form: Form, { task, message, statusUpdate, artifactUpdate }: Json): Json => {
  const wrap = (name: string, value: Json): Json => (form === 'kind' ? value : { [name]: value })
  if (isObject(task)) return wrap('task', taskTo(form, task))
  if (isObject(message)) return wrap('message', messageTo(form, message))
  if (isObject(statusUpdate)) {
    const status = statusUpdate.status as Json
    return wrap('statusUpdate', {
      ...(form === 'kind' && { kind: 'status-update' }),
      ...statusUpdate,
      status: statusTo(form, status),
      final: FINAL.includes(status.state),
    })
  }
  const update = artifactUpdate as Json
  return wrap('artifactUpdate', {
    ...(form === 'kind' && { kind: 'artifact-update' }),
    ...update,
    artifact: artifactTo(form, update.artifact as Json),
  })
}

const SCHEMES: Record<string, (scheme: Json) => Json> = {
  http: ({ scheme }) => ({ httpAuthSecurityScheme: { scheme } }),
  oauth2: ({ flows, oauth2MetadataUrl }) => ({ oauth2SecurityScheme: { flows, oauth2MetadataUrl } }),
}

/** Returns a card of 0.3 in the form that HTTP+JSON clients read. */
export const protoCard = ({ securitySchemes, security, ...card }: Json): Json => ({
  ...card,
  securitySchemes: Object.fromEntries(
    Object.entries(securitySchemes as Record<string, Json>).map(([name, scheme]) => [
      name,
      SCHEMES[String(scheme.type)]?.(scheme) ?? {},
    ]),
  ),
  security: (security as Record<string, string[]>[]).map((schemes) => ({
    schemes: Object.fromEntries(Object.entries(schemes).map(([name, list]) => [name, { list }])),
  })),
})

/**
 * Returns a push notification configuration of 0.3 as one of 1.0. Over HTTP+JSON its task is in the path, and the whole may be
 * inside `config`.
 */
export const pushFrom = (params: Json): Json => {
  const { taskId, configId, pushNotificationConfig } = isObject(params.config)
    ? { ...params, ...params.config }
    : params
  const { id, url, token, authentication } = isObject(pushNotificationConfig) ? pushNotificationConfig : {}
  const { schemes, credentials } = isObject(authentication) ? authentication : {}
  return defined({
    taskId: taskId ?? params.id,
    id: id ?? configId,
    url,
    token,
    authentication:
      Array.isArray(schemes) && schemes.length > 0 ? defined({ scheme: schemes[0], credentials }) : undefined,
  })
}

/** Returns a push notification configuration in a form of 0.3. */
export const pushTo = (form: Form, { id, taskId, url, authentication }: Json): Json => {
  const schemes = isObject(authentication) ? { authentication: { schemes: [authentication.scheme] } } : {}
  const config = { pushNotificationConfig: { id, url, ...schemes } }
  return form === 'kind' ? { taskId, ...config } : { name: `tasks/${taskId}/pushNotificationConfigs/${id}`, ...config }
}
