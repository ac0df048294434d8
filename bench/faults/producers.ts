import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventType } from '#shared/events/catalogue.ts'
import { tell } from '#shared/events/outbox.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import type { Table } from '#shared/table/table.ts'
import { type Dice, oneOf } from '#test/support/dice.ts'
import type { Accepted } from './accounts.ts'
import type { PatientClient } from './client.ts'
import type { Kind } from './kinds.ts'
import type { Tenant } from './tenants.ts'

export interface Production {
  /** Events in all. */
  events: number
  tenants: readonly Tenant[]
  kinds: readonly Kind[]
  call: PatientClient
  /** A table client that meets no faults: what is under test begins behind the commit. */
  table: Table
  clock: { now(): number }
  /** How many accepted events wait to be told; above the limit nobody writes. */
  backlog(): number
  /** Told of every event that was accepted. */
  onAccepted(count: number): void
  roll: Dice
}

/** Events of one transaction. */
const BATCH = 20
const BACKLOG = 200
/** Between two calls of one integration, so that its rate leaves room for its polling. */
const CALL_EVERY = 1 * SECOND

/**
 * Has events told until there are so many: in transactions of twenty, as the platform's own changes write them, and beside
 * that by every integration through `emit_event` over HTTP, with an Idempotency-Key, again until it is answered.
 * @returns what was committed or answered with 2xx
 */
export const produce = async (production: Production): Promise<{ accepted: Accepted[]; overHttp: number }> => {
  const { events, tenants, kinds, call, table, clock, backlog, onAccepted, roll } = production
  const accepted: Accepted[] = []
  let begun = 0
  let overHttp = 0
  // The first ones go to one receiver of each kind, so that none is left out where there are few events.
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
        return { type, write: tell(clock, { type, workspace_id, installation_id, app_id, data: { n } }) }
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
