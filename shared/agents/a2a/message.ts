import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { A2aError } from '#shared/kernel/a2a-error.ts'
import { isObject } from '#shared/kernel/json-schema/json-object.ts'

type Json = Record<string, unknown>

/** Content of a message or artifact, in the JSON of version 1.0. */
export interface Part extends Json {
  text?: string
  raw?: string
  url?: string
  data?: unknown
  mediaType?: string
  filename?: string
  metadata?: Json
}

/** A message, in the JSON of version 1.0. */
export interface Message extends Json {
  messageId: string
  contextId?: string
  taskId?: string
  role: string
  parts: Part[]
  metadata?: Json
}

const CONTENTS = ['text', 'raw', 'url', 'data'] as const

/** Returns a part without unknown fields, or undefined if it isn't one: it has exactly one content. */
const partOf = (value: unknown): Part | undefined => {
  if (!isObject(value)) return undefined
  // Null is data if the part has no other content (ProtoJSON).
  const set = CONTENTS.filter((name) => value[name] !== undefined && value[name] !== null)
  const contents = set.length === 0 && value.data === null ? ['data' as const] : set
  const [content] = contents
  if (contents.length !== 1 || content === undefined) return undefined
  if (content !== 'data' && typeof value[content] !== 'string') return undefined
  const { mediaType, filename, metadata } = value
  return {
    [content]: value[content],
    ...(typeof mediaType === 'string' && mediaType !== '' && { mediaType }),
    ...(typeof filename === 'string' && filename !== '' && { filename }),
    ...(isObject(metadata) && { metadata }),
  }
}

/** Returns all parts, or undefined if there are none or one of them isn't valid. */
export const partsOf = (value: unknown): Part[] | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const parts = value.map(partOf)
  return parts.every((part) => part !== undefined) ? parts : undefined
}

const LONGEST_ID = 128

const idField = (message: Json, name: string, fields: Record<string, string[]>): string | undefined => {
  const value = message[name]
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && value.length <= LONGEST_ID) return value
  fields[`message.${name}`] = [`must be a string of at most ${LONGEST_ID} characters`]
  return undefined
}

/** Reads a message. Unknown fields are ignored. @throws {A2aError} `INVALID_PARAMS` */
export const readMessage = (value: unknown): Message => {
  if (!isObject(value)) throw new A2aError('INVALID_PARAMS', { fields: { message: ['is required'] } })
  const fields: Record<string, string[]> = {}
  const messageId = idField(value, 'messageId', fields)
  const contextId = idField(value, 'contextId', fields)
  const taskId = idField(value, 'taskId', fields)
  const parts = partsOf(value.parts)
  if (messageId === undefined) fields['message.messageId'] ??= ['is required']
  if (!parts) fields['message.parts'] = ['must be parts, each with exactly one of text, raw, url and data']
  if (value.role !== 'ROLE_USER') fields['message.role'] = ['must be ROLE_USER']
  if (messageId === undefined || !parts || Object.keys(fields).length > 0)
    throw new A2aError('INVALID_PARAMS', { fields })
  const { metadata, extensions, referenceTaskIds } = value
  return {
    messageId,
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
    role: 'ROLE_USER',
    parts,
    ...(isObject(metadata) && { metadata }),
    ...(Array.isArray(extensions) && extensions.length > 0 && { extensions }),
    ...(Array.isArray(referenceTaskIds) && referenceTaskIds.length > 0 && { referenceTaskIds }),
  }
}

/** Request in a message: a call of a declared tool, or free text. */
export type Asked =
  | { tool: string; arguments: Json }
  | { tool?: undefined; arguments: { text: string; message: Message } }

/** Reads what a message asks an agent for. @throws {A2aError} `CONTENT_TYPE_NOT_SUPPORTED` */
export const askedBy = (message: Message, { a2a, tools = [] }: Manifest): Asked => {
  const [part, ...others] = message.parts
  const data = others.length === 0 && isObject(part?.data) ? part.data : undefined
  if (typeof data?.skill === 'string' && (tools.length > 0 || !a2a?.messages)) {
    const { skill, arguments: args = {} } = data
    if (!isObject(args)) {
      throw new A2aError('INVALID_PARAMS', { fields: { 'message.parts.0.data.arguments': ['must be an object'] } })
    }
    return { tool: skill, arguments: args }
  }
  if (!a2a?.messages) {
    throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', {
      message: 'The agent takes calls of its skills only.',
      fix: 'Send one data part: {"skill": "…", "arguments": {…}}.',
    })
  }
  if (message.parts.some(({ raw, url }) => raw !== undefined || url !== undefined)) {
    throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', {
      message: 'The agent takes text and JSON.',
      fix: 'Send text and data parts only.',
    })
  }
  return { arguments: { text: textOf(message), message } }
}

/** Returns the text of a message. */
export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap(({ text }) => text ?? []).join('\n\n')
