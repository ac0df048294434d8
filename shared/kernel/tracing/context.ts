import { randomUUID } from 'node:crypto'
import * as z from 'zod'

/**
 * Position in a trace (W3C Trace Context), as records and messages keep it. `parent` is a `traceparent`, `state` a
 * `tracestate`. A third value, `baggage`, goes to agents only.
 */
export const traceSchema = () =>
  z.object({ parent: z.string(), state: z.string().optional(), baggage: z.string().optional() })

export type StoredTrace = z.infer<ReturnType<typeof traceSchema>>

/** Flags of W3C Trace Context, level 2 (§3.2.2.5): the caller recorded the trace; the last seven bytes of its id are random. */
const SAMPLED = 0x01
const RANDOM = 0x02

/**
 * A trace that begins here and that no one records. It joins log lines. It isn't sent, because receivers would take it for an
 * order not to record, and isn't stored, because it would cost each run write units.
 */
const OWN = 0x80

const flag = (...bits: number[]): string =>
  bits
    .reduce((all, bit) => all | bit, 0)
    .toString(16)
    .padStart(2, '0')

const has = ({ flags }: Pick<TraceContext, 'flags'>, bit: number): boolean => (Number.parseInt(flags, 16) & bit) !== 0

/** Reports whether the trace is recorded by those it came from. */
export const isSampled = (trace: Pick<TraceContext, 'flags'>): boolean => has(trace, SAMPLED)

/** Returns a trace that began here as a recorded one. */
export const sampled = (trace: TraceContext): TraceContext => ({ ...trace, flags: flag(SAMPLED, RANDOM) })

export interface TraceContext {
  traceId: string
  spanId: string
  /** Two hexadecimal digits. */
  flags: string
  state?: string | undefined
  baggage?: string | undefined
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/

/** Limits of the two specifications, beyond which nobody has to pass a value on. */
const STATE_LENGTH = 512
const LONG_MEMBER = 128
const BAGGAGE_LENGTH = 8_192
const MEMBERS = { state: 32, baggage: 180 }

const STATE_MEMBER = /^[a-z0-9][\w*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
const BAGGAGE_MEMBER =
  /^[!#$%&'*+.^`|~\w-]+[ \t]*=[ \t]*[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*(;[\x20-\x2b\x2d-\x7e]*)*$/

const membersOf = (list: string): string[] =>
  list
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')

/**
 * Reads a `tracestate`. One over the limits loses whole members: first those over 128 characters, then from the end, which
 * holds the oldest (§3.3.1.5).
 * @returns undefined for a malformed one
 */
const readState = (text = ''): string | undefined => {
  const members = membersOf(text)
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))))
  if (keys.size !== members.length || !members.every((member) => STATE_MEMBER.test(member))) return undefined
  const isOver = (): boolean => members.length > MEMBERS.state || members.join(',').length > STATE_LENGTH
  if (!isOver()) return members.length > 0 ? text : undefined
  for (let i = members.length - 1; i >= 0 && isOver(); i--) {
    if ((members[i] as string).length > LONG_MEMBER) members.splice(i, 1)
  }
  while (isOver()) members.pop()
  return members.length > 0 ? members.join(',') : undefined
}

const isBaggage = (text: string | undefined): text is string => {
  if (text === undefined || text.length > BAGGAGE_LENGTH) return false
  const members = membersOf(text)
  return (
    members.length > 0 && members.length <= MEMBERS.baggage && members.every((member) => BAGGAGE_MEMBER.test(member))
  )
}

/** @returns undefined for a malformed value */
const parseParent = (text: string | undefined): TraceContext | undefined => {
  const [, version, traceId = '', spanId = '', flags = '', rest] = PARENT.exec(text?.trim() ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return { traceId, spanId, flags: flag(Number.parseInt(flags, 16) & (SAMPLED | RANDOM)) }
}

/**
 * Reads the headers `traceparent`, `tracestate` and `baggage`. Malformed ones are dropped, and a `tracestate` counts only
 * with its `traceparent`.
 */
export const readTraceHeaders = (
  headers: Readonly<Record<string, string | undefined>>,
): { trace?: TraceContext; baggage?: string } => {
  const trace = parseParent(headers.traceparent)
  const { tracestate, baggage } = headers
  const state = trace && readState(tracestate)
  return {
    ...(trace && { trace: { ...trace, ...(state !== undefined && { state }) } }),
    ...(isBaggage(baggage) && { baggage }),
  }
}

/** Begins a trace. */
export const newTrace = (isRecorded: boolean): TraceContext => ({
  traceId: randomUUID().replaceAll('-', ''),
  spanId: newSpanId(),
  flags: isRecorded ? flag(SAMPLED, RANDOM) : flag(OWN, RANDOM),
})

export const newSpanId = (): string => randomUUID().replaceAll('-', '').slice(16)

const parentOf = ({ traceId, spanId, flags }: TraceContext): string => `00-${traceId}-${spanId}-${flags}`

/** Returns what records and messages keep: nothing of a trace that only this function knows, unless it has baggage. */
export const storedTrace = (trace: TraceContext): StoredTrace | undefined =>
  has(trace, OWN) && trace.baggage === undefined
    ? undefined
    : {
        parent: parentOf(trace),
        ...(trace.state !== undefined && { state: trace.state }),
        ...(trace.baggage !== undefined && { baggage: trace.baggage }),
      }

/** Reads what {@link storedTrace} returned. */
export const restoreTrace = ({ parent, state, baggage }: StoredTrace): TraceContext | undefined => {
  const trace = parseParent(parent)
  return trace && { ...trace, flags: parent.slice(-2), state, baggage }
}

/**
 * Returns the headers that pass a trace on to others.
 * @param withBaggage only to an agent that works for the caller
 */
export const traceHeaders = (trace: TraceContext, withBaggage: boolean): Record<string, string> => ({
  ...(!has(trace, OWN) && {
    traceparent: parentOf(trace),
    ...(trace.state !== undefined && { tracestate: trace.state }),
  }),
  ...(withBaggage && trace.baggage !== undefined && { baggage: trace.baggage }),
})

/**
 * Reports whether a trace belongs to the recorded share. Decided by its id, so that every function decides alike without
 * being told.
 */
export const isInShare = (traceId: string, share: number): boolean =>
  Number.parseInt(traceId.slice(-8), 16) < share * 0x1_0000_0000
