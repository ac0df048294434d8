import type { webhooks } from './api.d.ts'
import { type Clock, verifySvc } from './verify.ts'

type Sent<T extends keyof webhooks> = webhooks[T]['post']['requestBody']['content']['application/json']

/** What the platform sends to an agent's endpoint. */
export type RunExecute = Sent<'run.execute'>

/** What the agent may answer to it with 200. */
export type AgentAnswer = webhooks['run.execute']['post']['responses'][200]['content']['application/json']

type Named = Exclude<keyof webhooks, 'run.execute' | 'custom.*'>

/** An event that agents emit themselves. Its type is no fixed one, so that others are still told apart by theirs. */
type CustomEvent = Omit<Sent<'custom.*'>, 'type'> & { type: `custom.${string}` }

/**
 * What webhooks bring and `GET /api/v1/events` lists, told apart by `type`.
 *
 * More types may come: subscribe to what you know, or keep a branch for the rest.
 */
export type PlatformEvent = { [T in Named]: Sent<T> }[Named] | CustomEvent

/** An event of one type: `EventOf<'run.succeeded'>`. */
export type EventOf<T extends PlatformEvent['type']> = Extract<PlatformEvent, { type: T }>

/**
 * The event of a delivery; nothing if its signature is not the platform's. Answer 401 then, and otherwise any 2xx. One event
 * may come several times: deduplicate by its `id`.
 *
 * @param signature the header `X-SVC-Signature`
 * @param body the bytes as they came, before any parsing
 */
export const readEvent = (
  secret: string,
  signature: string | undefined,
  body: Uint8Array,
  clock?: Clock,
): PlatformEvent | undefined =>
  verifySvc(secret, signature ?? '', body, clock) ? JSON.parse(new TextDecoder().decode(body)) : undefined
