import type { ApiMethods, Opts } from 'grammy/types'
import type { OutboxEvent } from '../entities/events.ts'
import type { QueueName } from '../kernel/queue-names.ts'

/**
 * What the domain asks of the outside world. Adapters implement these; `shared/http/compose.ts` wires them.
 */

/** One HTTP request to an address that a customer, a developer or an agent chose. */
export interface OutgoingRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  url: string
  /** Names in any case. Host, length and framing are set by the client and refused here. */
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Milliseconds for everything: name look-up, every try, the answer's last byte. */
  deadlineMs: number
  /** The answer is read up to this many bytes, counted after decompression. */
  maxResponseBytes: number
  /**
   * May the other side get this request twice? If so it travels over a kept-alive connection, and is repeated once when
   * that connection turns out to have been closed. If not (the default) it gets a connection of its own, so that a
   * connection that died unnoticed can't leave it in doubt.
   */
  repeatable?: boolean
  /**
   * An answer with this status is given as soon as its headers are there, without a body: what becomes of that changes nothing.
   * The other side may finish it in peace, within the deadline and `maxResponseBytes`.
   */
  decisiveStatus?: number
  /** Pauses in ms before further tries of a connection that was never made; as many tries more as there are pauses. */
  connectRetryPausesMs?: number[]
}

/** An answer, whatever its status. */
export interface OutgoingResponse {
  kind: 'response'
  status: number
  /** Names in lower case; a header that came several times is joined with `, `. */
  headers: Record<string, string>
  /** Decompressed. */
  body: Uint8Array
  /** The answer was longer than `maxResponseBytes`; the rest was not read. */
  truncated: boolean
  /** The body's `content-encoding` could not be undone; `body` holds what could be read. */
  decodeError?: string
  /** For an answer that is no 2xx: the likely cause and its mend, in words for whoever runs the receiving server. */
  hint?: string
  durationMs: number
}

/** No complete answer. */
export interface OutgoingFailure {
  kind: 'failure'
  /**
   * `blocked`: a forbidden target or header; `dns`: the name; `connect`: no connection; `tls`: no trust in it; `timeout`:
   * the deadline, at whatever point; `reset`: closed before the answer's end; `too_large`: headers over 16 KiB; `decode`:
   * the answer is not HTTP.
   */
  phase: 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'too_large' | 'decode'
  /** May the other side have seen the request? False only when no byte of it can have reached them. */
  sent: boolean
  /** The status, when headers had arrived before the failure. */
  status?: number
  /** The system's or library's code, for logs: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, … */
  code?: string
  /** What happened, for the people concerned; names no address that a name resolved to. */
  message: string
  /** The likely cause and its mend, in words. */
  hint: string
  durationMs: number
}

export type OutgoingResult = OutgoingResponse | OutgoingFailure

export interface OutgoingHttp {
  /** Sends one request; never follows a redirect and never throws for what the other side does. */
  send(request: OutgoingRequest): Promise<OutgoingResult>
  /** Why an address may never be called, as far as its text tells; undefined when it may. Looks no name up. */
  checkAddress(url: string): string | undefined
}

/** Whether an address may be called at all, as far as its text tells (decisions §6, forbidden targets). */
export type TargetVerdict = { ok: true; url: URL } | { ok: false; reason: string }

/** Structured logs. Fields hold ids and numbers, never what a client sent or a secret. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  /** One line that is a log entry and metrics at once. `values`: name → [number, CloudWatch unit]. */
  metrics(
    message: string,
    dimensions: Record<string, string>,
    values: Record<string, readonly [number, string]>,
    fields?: Record<string, unknown>,
  ): void
}

/** An address that lets whoever has it put one object, once. */
export interface PresignedPut {
  url: string
  /** To be sent as they are, beside a `content-length` of exactly the signed size: all are signed. */
  headers: Record<string, string>
}

/** The bucket. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array, contentType: string): Promise<void>
  /** Undefined when there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>
  /** Bytes of the object; undefined when there is none. */
  head(key: string): Promise<number | undefined>
  delete(key: string): Promise<void>
  /**
   * Signs an upload of exactly `size` bytes of that type. It is refused while there is an object under the key, so that it
   * never replaces one; once that is deleted, the address works again until its time is over.
   * @param expiresIn seconds within which the upload has to begin; it ends earlier with the credentials of the function
   */
  presignPut(key: string, options: { size: number; contentType: string; expiresIn: number }): Promise<PresignedPut>
  /**
   * Signs a download as an attachment of that name and type, whatever the object was stored as.
   * @param expiresIn seconds within which the download has to begin
   */
  presignGet(key: string, options: { expiresIn: number; filename: string; contentType: string }): Promise<string>
}

/** The platform's queues. A message only wakes somebody up: the record is the truth. */
export interface MessageQueues {
  /** `delayMs` is cut to what the queue can hold (15 minutes); `group` is the tenant for fair queues. */
  send(queue: QueueName, messages: { body: unknown; delayMs?: number; group?: string }[]): Promise<void>
}

/** How far events got: the first `taken` are on the bus. What comes after them may be, too, and is to be put again. */
export interface Put {
  taken: number
  /** Why it ended before the last. */
  error?: unknown
}

/** The event bus. It takes any number of events, in their order. */
export interface EventBus {
  put(events: readonly OutboxEvent[]): Promise<Put>
}

/** The platform's own bot, as its secret describes it. */
export interface BotCredentials {
  /** `<bot id>:<secret>`, from BotFather. It signs what people sign in with, and it is part of every address of the Bot API. */
  token: string
  /** What the Bot API sends with every update. */
  webhookSecret: string
}

/** What a method of the Bot API gave. */
export type BotAnswer<T> = { ok: true; result: T } | BotFailure

export interface BotFailure {
  ok: false
  /** Trying again may help: no answer, too many requests, a fault on their side, or a token that is being exchanged. */
  retry: boolean
  /** The Bot API's error code; undefined when there was no answer. */
  status: number | undefined
  /** What the Bot API says, for logs. Never holds the token. */
  description: string
  /** How long the Bot API asks to wait. */
  retryAfterMs?: number
}

/** The platform's own bot (decisions §3). */
export interface Bot {
  /** Undefined where no bot is configured. */
  credentials(): Promise<BotCredentials | undefined>
  /** Who the bot is, kept for minutes; while the Bot API does not answer, as it was known last. */
  me(): Promise<BotAnswer<{ username: string }>>
  /** Calls a method of the Bot API, once. Never throws for what the other side does. */
  call<M extends keyof ApiMethods>(method: M, payload: Opts<M>): Promise<BotAnswer<ReturnType<ApiMethods[M]>>>
}

/** A tool call that the model asks for. */
export interface ModelCall {
  /** The model's own name for it, unique in its turn. */
  id: string
  tool: string
  /** Undefined where the model wrote something that is no JSON object. */
  arguments: Record<string, unknown> | undefined
}

/** A conversation with a language model, oldest first. */
export type ModelMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: readonly ModelCall[] }
  | { role: 'tool'; results: readonly { id: string; tool: string; text: string }[] }

/** One turn that is asked of the model. */
export interface ModelRequest {
  /** Undefined: the deployment's default. */
  model: string | undefined
  /** The system prompt. */
  instructions: string
  messages: readonly ModelMessage[]
  tools: readonly { name: string; description: string; inputSchema: Record<string, unknown> }[]
  /** Ends the turn early. */
  signal: AbortSignal
}

/** What a model answered. */
export interface ModelAnswer {
  kind: 'answer'
  text: string
  /** Empty in its last turn. */
  calls: ModelCall[]
  /** `length`: it was cut; `refused`: the provider withheld it. */
  end: 'whole' | 'length' | 'refused'
  inputTokens: number
  outputTokens: number
}

/** A turn that came to nothing, after every try that could help. */
export interface ModelFailure {
  kind: 'failure'
  /** What happened, for the agent's developer. Never holds the key. */
  message: string
  /** The provider's HTTP status, when it answered. */
  status?: number
  /** The beginning of what the provider answered, without the key. */
  body?: string
}

/** The language model that inline agents run on (decisions §7). */
export interface LanguageModel {
  /** Takes one turn; tools are asked for, never called. Never throws for what the provider does. */
  turn(request: ModelRequest): Promise<ModelAnswer | ModelFailure | { kind: 'not_configured' }>
}

/** What is measured of one part of a deployment, as its alarms name it. */
export interface WatchedMetric {
  namespace: string
  name: string
  dimensions: Readonly<Record<string, string>>
  statistic: string
  /** Seconds. */
  period: number
}

/** An alarm of this deployment. */
export interface WatchedAlarm {
  /** As the operator finds it. */
  name: string
  /** The part of the name behind what all of this deployment's alarms begin with. */
  id: string
  description: string
  state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'
  /** Epoch ms since when it is in that state. */
  since: number | undefined
  metric: WatchedMetric
}

/** Values, the newest first; empty while nothing was measured. */
export type MetricSeries = readonly number[]

/** What watches the deployment. */
export interface Monitoring {
  /** All of this deployment's alarms. @throws while it cannot be asked */
  alarms(): Promise<WatchedAlarm[]>
  /** What was measured between two times, in epoch ms, in the order of the metrics. */
  series(metrics: readonly WatchedMetric[], since: number, until: number): Promise<MetricSeries[]>
}
