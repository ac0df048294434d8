import type { Clock } from '../kernel/clock.ts'
import type { IdKind } from '../kernel/ids.ts'
import type { Keyring } from '../kernel/keyring.ts'
import type { Settings } from '../kernel/settings.ts'
import type { Write } from '../table/entity.ts'
import type { Table } from '../table/table.ts'
import type {
  Bot,
  EventBus,
  LanguageModel,
  Logger,
  MessageQueues,
  Monitoring,
  ObjectStore,
  OutgoingHttp,
} from './ports.ts'

/** The keyrings, each fetched at first use. A function can read only those that its endpoints or worker declare. */
export interface Keys {
  tokens(): Promise<Keyring>
  admin(): Promise<Keyring>
  data(): Promise<Keyring>
}

/** What the domain works with. Made once per function instance by http/compose.ts, or by a test. */
export interface Deps {
  settings: Settings
  clock: Clock
  table: Table
  keys: Keys
  objects: ObjectStore
  http: OutgoingHttp
  /** Only for functions that declare the capability `bot`; refuses anywhere else. */
  bot: Bot
  /** Only for functions that declare the capability `model`; refuses anywhere else. */
  model: LanguageModel
  /** Only for functions that declare the capability `metrics:read`; refuses anywhere else. */
  monitoring: Monitoring
  log: Logger
}

/**
 * One unit of work: a request, or a worker's message. All of its changes go through {@link commit}, once.
 * For a request with an Idempotency-Key the answer is kept in that same transaction, so that a retry finds what the
 * first one made, also when the first died before it could answer (decisions §1).
 */
export interface Work extends Deps {
  /** `req_…`, for the audit and the logs. */
  readonly requestId: string
  readonly sourceIp: string | undefined
  /** A new id. Under an Idempotency-Key the same key gives the same ids in the same order. */
  id(kind: IdKind): string
  /**
   * Writes all or nothing.
   * @param answer what the request answers with, when it is known before the write
   */
  commit(writes: readonly Write[], answer?: unknown): Promise<void>
}

/** The same work for changes beside the request's own: what they commit is not the answer that an Idempotency-Key keeps. */
export const aside = (work: Work): Work => ({ ...work, commit: (writes) => work.commit(writes) })

/** A worker's unit of work. Only workers send messages and put events: a request's changes are told by the outbox. */
export interface WorkerWork extends Work {
  queues: MessageQueues
  bus: EventBus
}
