import { isObject } from '../kernel/json-schema/json-object.ts'
import { LIMITS } from '../kernel/limits.ts'

type Json = Record<string, unknown>

/** Chat completion that a stream adds up to, or the chunk at which it stopped making sense. */
export type Assembled =
  | { kind: 'whole'; completion: Json }
  | { kind: 'error'; body: unknown; code: unknown }
  /** Data that isn't a chunk. The reader of answers says why. */
  | { kind: 'odd'; text: string }

/** Answer over the limit. */
export class TooLong extends Error {}

/** Stream that ended before its answer did. */
export class BrokenOff extends Error {}

/**
 * Assembles the chat completion of a stream of chunks, as if it had been sent whole.
 * @param onText called with the text so far, as a function because reading it costs more than joining it
 * @throws {@link TooLong} over 4 MiB; {@link BrokenOff} if the stream ends without its end
 */
export const assemble = async (
  body: AsyncIterable<Uint8Array>,
  onText: (readText: () => string) => void = () => {},
): Promise<Assembled> => {
  const completion: Json = {}
  const choice: Json = { index: 0, finish_reason: null }
  const message: Json = { role: 'assistant', content: null }
  const calls: Call[] = []
  let hasChoices = false
  let size = 0
  let odd: string | undefined
  for await (const { event, data } of eventsOf(body)) {
    if (data === '[DONE]') return whole()
    const chunk = parsed(data)
    if (!isObject(chunk)) return { kind: 'odd', text: data }
    const error = errorOf(event, chunk)
    if (error) return { kind: 'error', body: chunk, code: error.code }
    const { choices, usage, ...head } = chunk
    Object.assign(completion, head, isObject(usage) && { usage })
    if (!Array.isArray(choices)) {
      odd ??= isObject(usage) ? undefined : data
      continue
    }
    hasChoices ||= choices.length > 0
    const first = choices.find((one) => isObject(one) && (one.index ?? 0) === 0)
    if (!first) continue
    if (first.finish_reason != null) choice.finish_reason = first.finish_reason
    const delta = isObject(first.delta) ? first.delta : first.message
    if (!isObject(delta)) continue
    size += sizeOf(delta)
    if (size > LIMITS.modelAnswerBytes) throw new TooLong('it is over 4 MiB')
    const { tool_calls, ...rest } = delta
    for (const [name, value] of Object.entries(rest)) join(message, name, value)
    for (const call of Array.isArray(tool_calls) ? tool_calls.filter(isObject) : []) addCall(calls, call)
    if (typeof rest.content === 'string' && rest.content !== '' && typeof message.content === 'string') {
      const { content } = message
      onText(() => content)
    }
  }
  if (choice.finish_reason === null && (hasChoices || odd === undefined))
    throw new BrokenOff('the connection broke inside the answer')
  return whole()

  function whole(): Assembled {
    if (!hasChoices && odd !== undefined) return { kind: 'odd', text: odd }
    const tool_calls = calls.map(({ index: _, ...call }) => ({ type: 'function', ...call }))
    const choices = hasChoices
      ? [{ ...choice, message: { ...message, ...(tool_calls.length > 0 && { tool_calls }) } }]
      : []
    return { kind: 'whole', completion: { ...completion, object: 'chat.completion', choices } }
  }
}

const sizeOf = (delta: Json): number =>
  Object.values(delta).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : JSON.stringify(value).length),
    0,
  )

/** Fields of a message whose deltas continue each other. */
const CONTINUED = new Set(['content', 'reasoning_content', 'reasoning', 'refusal', 'arguments'])

/** Joins a field's delta to what came before. A value of another type stays, and fails the check of the answer. */
const join = (target: Json, name: string, value: unknown): void => {
  const before = target[name]
  if (value == null) return
  target[name] = CONTINUED.has(name) && typeof value === 'string' && typeof before === 'string' ? before + value : value
}

interface Call extends Json {
  index?: unknown
  id?: unknown
  function: Json
}

/**
 * Adds the delta of a call. OpenAI numbers calls, and the first delta of each has id and name. Others leave the number out, give
 * every call the number 0, repeat id and name in each delta, or send new ids with each; several send a call in one piece.
 */
const addCall = (calls: Call[], { function: made, ...rest }: Json): void => {
  const part = isObject(made) ? made : {}
  const { name } = part
  const isNamed = typeof name === 'string' && name !== ''
  const before = continued(calls, rest, isNamed ? name : undefined)
  const call: Call = before ?? { function: { name: '', arguments: '' } }
  if (!before) calls.push(call)
  // An empty id stands for the one that was sent before, and so does a new one in a delta without a name.
  for (const [field, value] of Object.entries(rest)) {
    if (field !== 'id' || call.id === undefined) join(call, field, value)
  }
  for (const [field, value] of Object.entries(part)) {
    if (field !== 'name') join(call.function, field, value)
    else if (isNamed && call.function.name !== name) call.function.name = `${call.function.name}${name}`
  }
}

/** Finds the call that a delta continues. */
const continued = (calls: readonly Call[], { index, id }: Json, name: string | undefined): Call | undefined => {
  const hasId = typeof id === 'string' && id !== ''
  const isNumbered = typeof index === 'number'
  const place = isNumbered
    ? calls.findLast((call) => call.index === index)
    : name === undefined && hasId
      ? (calls.findLast((call) => call.id === id) ?? calls.at(-1))
      : calls.at(-1)
  if (!place || name === undefined) return place
  // A name begins a call, unless it is sent again with the same call's next piece.
  if (hasId && place.id !== undefined && place.id !== id) return undefined
  if (isWhole(place.function.arguments)) return undefined
  return isNumbered || (hasId && place.id === id) ? place : undefined
}

const isWhole = (text: unknown): boolean => typeof text === 'string' && isObject(parsed(text))

/**
 * Returns the error that a chunk carries: as `error` (an object or a text), in its choice, or as the chunk itself, in an event of
 * this name or with this `object`.
 */
const errorOf = (event: string, chunk: Json): { code?: unknown } | undefined => {
  const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
  for (const error of [chunk.error, isObject(choice) ? choice.error : undefined]) {
    if (isObject(error)) return error
    if (typeof error === 'string') return { code: chunk.code }
  }
  return event === 'error' || chunk.object === 'error' ? chunk : undefined
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Bytes that frame the tokens of an answer: a chunk of 250 bytes for each token is common. */
const FRAMED = 16

/**
 * Yields the events of an event stream (HTML standard, “Server-sent events”). llama.cpp has sent errors in a field `error`.
 * @throws {@link TooLong}
 */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const decoder = new TextDecoder()
  let rest = ''
  let bytes = 0
  let event = ''
  let data: string[] = []
  const taken = () => {
    const block = { event, data: data.join('\n').trim() }
    event = ''
    data = []
    return block
  }
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > FRAMED * LIMITS.modelAnswerBytes || rest.length > LIMITS.modelAnswerBytes)
      throw new TooLong('it is over 4 MiB')
    // A line break of two characters may be divided among pieces.
    const lines = `${rest}${decoder.decode(piece, { stream: true })}`.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        const block = taken()
        if (block.data !== '') yield block
        continue
      }
      const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
      if (field === 'data') data.push(value)
      else if (field === 'event') event = value
      else if (field === 'error') {
        event = 'error'
        data.push(value)
      }
    }
  }
  // Servers may leave out the last line break.
  const last = /^data: ?(.*)$/s.exec(`${rest}${decoder.decode()}`.trimEnd())
  if (last) data.push(last[1] ?? '')
  const block = taken()
  if (block.data !== '') yield block
}
