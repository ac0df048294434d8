import type { webhooks } from './api.d.ts'
import { type AnyHeaders, type Clock, isSigned, SignatureError } from './verify.ts'

export { type AnyHeaders, type Clock, SignatureError } from './verify.ts'

type Sent<T extends keyof webhooks> = webhooks[T]['post']['requestBody']['content']['application/json']

/** Body of the request to an agent's endpoint. */
export type RunExecute = Sent<'run.execute'>

/** Body of the agent's answer with status 200. */
export type AgentAnswer = webhooks['run.execute']['post']['responses'][200]['content']['application/json']

type Named = Exclude<keyof webhooks, 'run.execute' | 'custom.*'>

/** A custom event, emitted by an agent. Its type is a pattern, so that TypeScript can still distinguish other events by type. */
type CustomEvent = Omit<Sent<'custom.*'>, 'type'> & { type: `custom.${string}` }

/**
 * An event from a webhook or from `GET /api/v1/events`, distinguished by `type`.
 *
 * New types can be added: subscribe only to types you know, or handle unknown ones.
 */
export type PlatformEvent = { [T in Named]: Sent<T> }[Named] | CustomEvent

/** An event of one type: `EventOf<'run.succeeded'>`. */
export type EventOf<T extends PlatformEvent['type']> = Extract<PlatformEvent, { type: T }>

/**
 * Returns the event of a delivery. Respond with 401 if this throws, otherwise with any 2xx. An event can arrive more than
 * once: detect duplicates by its `id`.
 *
 * @param secrets `whsec_…` of the subscription; several while you rotate
 * @param headers of a Fetch API request, or an object with names in any case
 * @param body the raw bytes, before any parsing
 * @throws {SignatureError}
 */
export const verify = async (
  secrets: string | readonly string[],
  headers: AnyHeaders,
  body: Uint8Array,
  clock?: Clock,
): Promise<PlatformEvent> => {
  if (!(await isSigned(secrets, headers, body, clock))) throw new SignatureError()
  return JSON.parse(new TextDecoder().decode(body))
}
