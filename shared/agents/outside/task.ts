import { fromProtoJson } from '#shared/kernel/a2a-json.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { findUnstorable } from '#shared/kernel/storable.ts'
import { messageFrom, taskFrom } from '../a2a/legacy.ts'
import { type Part, partsOf, textOf } from '../a2a/message.ts'

const STATES = [
  'SUBMITTED',
  'WORKING',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'CANCELED',
] as const

/** Task as an outside agent describes it. Everything in it is untrusted. */
export interface ReadTask {
  id: string
  contextId?: string
  state: (typeof STATES)[number]
  text: string
  artifacts: { name?: string; parts: Part[] }[]
  /** Tells one status from the next. */
  fingerprint: string
}

/** Effect of an outside agent's answer. */
export type Reading =
  | { kind: 'task'; task: ReadTask }
  | { kind: 'message'; text: string; parts: Part[] }
  /** The agent answered with an error of the protocol. */
  | { kind: 'refused'; text: string }
  /** `lasting` if another read can't help. */
  | { kind: 'invalid'; text: string; lasting?: true }
  | { kind: 'unreachable'; text: string; sent: boolean }

const LONGEST_ID = 256

const invalid = (text: string): Reading => ({ kind: 'invalid', text })
const unusable = (text: string): Reading => ({ kind: 'invalid', text, lasting: true })

/** Reads an outside agent's answer in either binding and version. */
export const readAnswer = (result: OutgoingResult, version: '1.0' | '0.3'): Reading => {
  if (result.kind === 'failure') return { kind: 'unreachable', text: result.message, sent: result.sent }
  const { status, truncated, decodeError, body } = result
  if (status >= 300 && status < 400) {
    return { kind: 'unreachable', text: `The agent answered with a redirect (HTTP ${status}).`, sent: true }
  }
  if (truncated) return unusable(`The agent’s answer exceeds ${LIMITS.runPayloadBytes / 1_024 / 1_024} MiB.`)
  if (decodeError) return invalid(`The agent’s answer couldn’t be decoded: ${decodeError}.`)
  const value = parse(body)
  if (isObject(value) && isObject(value.error)) return refused(value.error)
  if (status < 200 || status > 299) {
    return { kind: 'unreachable', text: `The agent answered HTTP ${status} instead of 200.`, sent: true }
  }
  if (!isObject(value)) return invalid('The agent’s answer is not a JSON object.')
  const wrong = findUnstorable(value)
  if (wrong) return unusable(`The agent’s answer is unusable: ${wrong}`)
  return readResult(value.jsonrpc === undefined ? value : value.result, version)
}

const parse = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

const refused = ({ code, message }: JsonObject): Reading => ({
  kind: 'refused',
  text: `The agent refused: ${[code, message].filter((part) => typeof part === 'number' || typeof part === 'string').join(' ')}`,
})

/** A result is a task, or wraps a task or a message. Version 0.3 says which by `kind` in JSON-RPC. */
const readResult = (result: unknown, version: '1.0' | '0.3'): Reading => {
  if (!isObject(result)) return invalid('The agent’s answer has no result.')
  const read = fromProtoJson('Answer', result)
  const { task, message, kind } = read
  // The JSON of 0.3's protocol buffers calls the message `msg` or `message`.
  const said = message ?? read.msg ?? (kind === 'message' ? read : undefined)
  if (isObject(said)) return readMessage(version === '0.3' ? messageFrom(said) : said)
  const found = isObject(task) ? task : read
  return readTask(version === '0.3' ? taskFrom(found) : found)
}

const readMessage = (message: unknown): Reading => {
  const parts = partsOf(isObject(message) ? message.parts : undefined)
  return parts
    ? { kind: 'message', text: textOf({ parts }), parts }
    : invalid('The agent’s message has no valid parts.')
}

const readTask = ({ id, contextId, status, artifacts }: JsonObject): Reading => {
  if (!isId(id)) return invalid('The agent’s task has no usable id.')
  const { state, message, timestamp } = isObject(status) ? status : {}
  const known = STATES.find((name) => state === `TASK_STATE_${name}`)
  if (!known) return invalid('The agent’s task has no known state.')
  const parts = (isObject(message) && partsOf(message.parts)) || []
  const messageId = isObject(message) ? message.messageId : undefined
  return {
    kind: 'task',
    task: {
      id,
      ...(isId(contextId) && { contextId }),
      state: known,
      text: textOf({ parts }),
      artifacts: artifactsOf(artifacts),
      fingerprint: sha256(JSON.stringify([known, messageId ?? timestamp ?? null, parts])),
    },
  }
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LONGEST_ID && !/^\.+$/.test(value)

const artifactsOf = (value: unknown): ReadTask['artifacts'] =>
  (Array.isArray(value) ? value : []).filter(isObject).flatMap(({ name, parts }) => {
    const read = partsOf(parts)
    return read ? [{ ...(typeof name === 'string' && name !== '' && { name }), parts: read }] : []
  })

/** Returns a run's output: the text for people, and all artifacts. */
export const outputOf = (text: string, artifacts: ReadTask['artifacts']): Record<string, unknown> => {
  const shown =
    text.trim() === ''
      ? artifacts
          .map(textOf)
          .filter((part) => part !== '')
          .join('\n\n')
      : text
  return { text: shown, artifacts }
}
