import type { Clock } from '#shared/kernel/clock.ts'
import type { IdKind } from '#shared/kernel/ids.ts'
import type { Bot } from '#shared/kernel/ports/bot.ts'
import type { EventBus } from '#shared/kernel/ports/bus.ts'
import type { Keys } from '#shared/kernel/ports/keys.ts'
import type { LanguageModel } from '#shared/kernel/ports/language-model.ts'
import type { Logger } from '#shared/kernel/ports/logger.ts'
import type { Mail } from '#shared/kernel/ports/mail.ts'
import type { Monitoring } from '#shared/kernel/ports/monitoring.ts'
import type { ObjectStore } from '#shared/kernel/ports/objects.ts'
import type { OutgoingHttp } from '#shared/kernel/ports/outgoing-http.ts'
import type { MessageQueues } from '#shared/kernel/ports/queues.ts'
import type { Sockets } from '#shared/kernel/ports/sockets.ts'
import type { Traces } from '#shared/kernel/ports/traces.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Table } from '#shared/table/table.ts'
import type { OutboxEvent } from '../outbox/entity.ts'

/** Dependencies of the domain. Created once per function instance by http/compose.ts, or by a test. */
export interface Deps {
  settings: Settings
  clock: Clock
  table: Table
  keys: Keys
  objects: ObjectStore
  http: OutgoingHttp
  /** Works only in functions that declare the capability `bot`. */
  bot: Bot
  /** Works only in functions that declare the capability `model`. */
  model: LanguageModel
  /** Works only in functions that declare the capability `mail`. */
  mail: Mail
  /** Works only in functions that declare the capability `metrics:read`. */
  monitoring: Monitoring
  /** Works only in functions that declare the capability `sockets`. */
  sockets: Sockets
  /** Sends messages. Works only in functions that declare the capability `queue:…`. */
  queues: MessageQueues
  log: Logger
  /** Exporter of spans. Absent unless the stage has a collector. */
  traces?: Traces
}

/** Write that a message follows. */
export interface FollowedWrite extends Omit<Write, 'followUp'> {
  /** The message brings the event of the write, too. */
  readonly followUp: { queue: QueueName; body: { kind: string; event: OutboxEvent } }
}

/** Write for a unit of work. A message may follow it, so that only {@link Work.commit} takes it. */
export type WorkWrite = Write | FollowedWrite

/**
 * Unit of work: a request or a worker's message. All of its changes go through one call of {@link commit}.
 * For a request with an Idempotency-Key, that transaction also stores the response. A retry then finds it, even if the
 * first request failed before it could respond (contract/general.md#idempotency-keys).
 */
export interface Work extends Deps {
  /** `req_…`, for the audit log and the logs. */
  readonly requestId: string
  readonly sourceIp: string | undefined
  /** Teammate of a developer account (`dme_…`) who makes the request, for the audit log. */
  readonly developerMember?: string | undefined
  /** The client's `User-Agent`. Absent in workers. */
  readonly userAgent?: string | undefined
  /** Creates an id. The same Idempotency-Key gives the same ids in the same order. */
  id(kind: IdKind): string
  /**
   * Writes everything or nothing.
   * @param answer body of the response, if it is known before the write
   */
  commit(writes: readonly WorkWrite[], answer?: unknown): Promise<void>
}

/** Returns the same work for side changes, whose commits don't store the response of the Idempotency-Key. */
export const withoutAnswer = (work: Work): Work => ({ ...work, commit: (writes) => work.commit(writes) })

/**
 * Unit of work of a worker. Workers send messages and put events. Requests emit their changes through the outbox, and the
 * only messages that they send dispatch a new run or bring its end to the fan-out (architecture.md#no-dual-writes).
 */
export interface WorkerWork extends Work {
  bus: EventBus<OutboxEvent>
}
