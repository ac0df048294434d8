import { isObject, type JsonObject } from './json-schema/json-object.ts'

/** A field of a message: a kind of value, or a message of {@link MESSAGES}. In brackets: a list of it. */
type Field = string

const CONTENT = { metadata: 'struct' }

const PUSH = {
  tenant: 'text',
  id: 'text',
  taskId: 'text',
  name: 'text',
  url: 'text',
  token: 'text',
  authentication: 'Authentication',
  pushNotificationConfig: 'Push',
}

const MESSAGE = {
  ...CONTENT,
  kind: 'text',
  messageId: 'text',
  contextId: 'text',
  taskId: 'text',
  role: 'role',
  parts: '[Part]',
  content: '[Part]',
  extensions: '[text]',
  referenceTaskIds: '[text]',
}

const TASK = {
  ...CONTENT,
  kind: 'text',
  id: 'text',
  contextId: 'text',
  status: 'Status',
  artifacts: '[Artifact]',
  history: '[Message]',
}

/** Fields of the protocol's messages, of the versions 1.0 and 0.3 together, by their names in JSON. */
const MESSAGES: Record<string, Record<string, Field>> = {
  /** Parameters of all operations. */
  Params: {
    ...PUSH,
    ...CONTENT,
    message: 'Message',
    configuration: 'Configuration',
    contextId: 'text',
    status: 'state',
    pageSize: 'count',
    pageToken: 'text',
    historyLength: 'count',
    statusTimestampAfter: 'text',
    includeArtifacts: 'flag',
    config: 'Push',
    configId: 'text',
    pushNotificationConfigId: 'text',
  },
  Configuration: {
    acceptedOutputModes: '[text]',
    taskPushNotificationConfig: 'Push',
    pushNotificationConfig: 'Push',
    pushNotification: 'Push',
    historyLength: 'count',
    returnImmediately: 'flag',
    blocking: 'flag',
  },
  Push: PUSH,
  Authentication: { scheme: 'text', schemes: '[text]', credentials: 'text' },
  Message: MESSAGE,
  Part: {
    ...CONTENT,
    kind: 'text',
    text: 'text',
    raw: 'bytes',
    url: 'text',
    data: 'value',
    file: 'File',
    filename: 'text',
    mediaType: 'text',
  },
  File: { bytes: 'bytes', uri: 'text', fileWithBytes: 'bytes', fileWithUri: 'text', mimeType: 'text', name: 'text' },
  Task: TASK,
  Status: { state: 'state', message: 'Message', timestamp: 'text' },
  Artifact: {
    ...CONTENT,
    artifactId: 'text',
    name: 'text',
    description: 'text',
    parts: '[Part]',
    extensions: '[text]',
  },
  /** Answer of an agent: a task or a message, or one of them by its name. */
  Answer: { ...MESSAGE, ...TASK, task: 'Task', message: 'Message', msg: 'Message' },
  Card: {
    name: 'text',
    supportedInterfaces: '[Interface]',
    additionalInterfaces: '[Interface]',
    url: 'text',
    preferredTransport: 'text',
    protocolVersion: 'text',
    capabilities: 'Capabilities',
    skills: '[Skill]',
    signatures: '[Signature]',
  },
  Interface: { url: 'text', protocolBinding: 'text', transport: 'text', protocolVersion: 'text', tenant: 'text' },
  Capabilities: { pushNotifications: 'flag' },
  Skill: { id: 'text' },
  Signature: { protected: 'text', signature: 'text', header: 'struct' },
}

/** Names of the schema that differ from those in JSON by more than their case. */
const OTHER_NAMES = new Map([
  ['Params.request', 'message'],
  ['Status.update', 'message'],
])

/** Names of enums by number. */
const ENUMS: Record<string, readonly string[]> = {
  role: ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'],
  state: [
    'TASK_STATE_UNSPECIFIED',
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_REJECTED',
    'TASK_STATE_AUTH_REQUIRED',
  ],
}

const jsonName = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const INTEGER = /^-?\d{1,15}$/

/** Reads a value of this kind. A value of another type stays as it is, and its reader refuses it. */
const readValue = (kind: Field, value: unknown): unknown => {
  const listed = /^\[(.*)\]$/.exec(kind)?.[1]
  if (listed !== undefined) return Array.isArray(value) ? value.map((one) => readValue(listed, one)) : value
  const names = ENUMS[kind]
  if (names) return typeof value === 'number' || INTEGER.test(String(value)) ? (names[Number(value)] ?? value) : value
  if (kind === 'count') return typeof value === 'string' && INTEGER.test(value) ? Number(value) : value
  if (kind === 'bytes') return typeof value === 'string' ? standardBase64(value) : value
  return kind in MESSAGES && isObject(value) ? fromProtoJson(kind, value) : value
}

/** Both alphabets of base64 are allowed, with and without padding. */
const standardBase64 = (text: string): string =>
  /^[\w-]*$/.test(text) && (text.length % 4 !== 0 || /[-_]/.test(text))
    ? Buffer.from(text, 'base64url').toString('base64')
    : text

/**
 * Reads the JSON of a protocol buffer by the rules of ProtoJSON, which A2A requires: a field may have its name in the schema
 * (`task_id`), an enum its number, an integer be a string, and null means unset. Unknown fields stay as they are.
 */
export const fromProtoJson = (message: keyof typeof MESSAGES, value: JsonObject): JsonObject => {
  const fields = MESSAGES[message] ?? {}
  const read = Object.entries(value).flatMap(([given, inner]): [string, unknown][] => {
    const named = OTHER_NAMES.get(`${message}.${given}`) ?? jsonName(given)
    const kind = Object.hasOwn(fields, named) ? fields[named] : undefined
    if (kind === undefined) return [[given, inner]]
    // If both names are there, that of JSON counts.
    if (named !== given && Object.hasOwn(value, named)) return []
    // Null is a value of its own where any JSON is.
    return inner === null && kind !== 'value' ? [] : [[named, readValue(kind, inner)]]
  })
  return Object.fromEntries(read)
}

/** Reads the parameters of a query, whose values are texts. */
export const fromQuery = (query: readonly [string, string][]): JsonObject => {
  const fields = MESSAGES.Params ?? {}
  const isFlag = (name: string): boolean => fields[jsonName(name)] === 'flag'
  const values = query.map(([name, text]): [string, unknown] => [
    name,
    isFlag(name) && (text === 'true' || text === 'false') ? text === 'true' : text,
  ])
  return fromProtoJson('Params', Object.fromEntries(values))
}
