import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventType } from '#shared/delivery/catalogue/catalogue.ts'
import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import type { Table } from '#shared/table/table.ts'
import { type Dice, oneOf } from '#testkit/dice.ts'
import type { Accepted } from './accounts.ts'
import type { PatientClient } from './client.ts'
import type { Kind } from './kinds.ts'
import type { Tenant } from './tenants.ts'

export interface Production {
  /** Total number of events. */
  events: number
  tenants: readonly Tenant[]
  kinds: readonly Kind[]
  call: PatientClient
  /** Table client without faults, because the test begins after the commit. */
  table: Table
  clock: { now(): number }
  /** Returns the number of accepted events that wait. Above the limit, producers pause. */
  backlog(): number
  /** Called with the number of newly accepted events. */
  onAccepted(count: number): void
  roll: Dice
}

/** Events per transaction. */
const BATCH = 20
const BACKLOG = 200
/** Pause between two calls of one integration, which leaves room for its polling. */
const CALL_EVERY = 1 * SECOND

/**
 * Produces events: in transactions of twenty, as the platform's own changes write them, and by every integration through
 * `emit_event` over HTTP, with an Idempotency-Key and repeated until answered.
 * @returns the events that were committed or answered with 2xx
 */
export const produce = async (production: Production): Promise<{ accepted: Accepted[]; overHttp: number }> => {
  const { events, tenants, kinds, call, table, clock, backlog, onAccepted, roll } = production
  const accepted: Accepted[] = []
  let begun = 0
  let overHttp = 0
  // The first events go to one receiver of each kind, so that each is used even with few events.
  const kindOf = (n: number): Kind => kinds[n] ?? oneOf(roll, kinds)
  const take = (most: number): number[] => {
    const numbers = Array.from({ length: Math.min(most, events - begun) }, (_, i) => begun + i)
    begun += numbers.length
    return numbers
  }

  const batches = async () => {
    while (begun < events) {
      if (backlog() > BACKLOG) {
        await pause(25)
        continue
      }
      const tenant = tenants[roll.below(tenants.length)] as Tenant
      const { installation_id, workspace_id, app_id } = tenant
      const writes = take(BATCH).map((n) => {
        const type = `custom.${kindOf(n).name}` as EventType
        return { type, write: emitEvent(clock, { type, workspace_id, installation_id, app_id, data: { n } }) }
      })
      await table.transact(writes.map(({ write }) => write))
      accepted.push(...writes.map(({ type, write }) => ({ id: String(write.item?.id), type, installation_id })))
      onAccepted(writes.length)
      await pause(5)
    }
  }

  const calls = async ({ headers, installation_id }: Tenant) => {
    for (let [n] = take(1); n !== undefined; [n] = take(1)) {
      const { result } = await call('POST', '/api/v1/tools/emit_event/invoke', {
        headers: { ...headers, 'idempotency-key': randomUUID() },
        body: { arguments: { type: kindOf(n).name, data: { n } } },
      })
      accepted.push({ id: result.event_id, type: result.type, installation_id })
      overHttp += 1
      onAccepted(1)
      await pause(CALL_EVERY)
    }
  }

  await Promise.all([batches(), ...tenants.map(calls)])
  return { accepted, overHttp }
}
