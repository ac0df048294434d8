import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { newEvent } from '#shared/foundation/outbox/outbox.ts'
import { SweepMarkEntity } from '#shared/foundation/overdue/entity.ts'
import { sweepOverdue, sweepShard } from '#shared/foundation/overdue/sweep.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { defineEntity } from '#shared/table/entity.ts'
import type { DueItem } from '#shared/table/table.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { handlingEvents } from './support.ts'

const platform = usingPlatform()

const MINUTE = 60_000

describe('overdue records of a kind that only a newer version knows', () => {
  const NewerEntity = defineEntity({
    name: 'newer-kind',
    schema: () => z.object({ id: z.string(), due_at: z.number() }),
    pk: 'NEWER#{id}',
    sk: 'NEWER',
    due: true,
    personal: 'none',
    retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  })
  const handled: string[] = []
  const HANDLERS = [handlingEvents(handled)]
  const logged = (message: string) =>
    platform.logs.map((line) => JSON.parse(line)).filter((line) => line.message === message)
  const warnings = () => logged('skipped overdue records of unknown kinds')

  /** Leaves unknown records in both shards, all with the same time, and a known one after them. @returns its shard */
  const leave = async () => {
    const { table, clock } = platform.deps
    const due_at = clock.now() - 60 * MINUTE
    const newer = Array.from({ length: 150 }, (_, i) => ({ id: String(i), due_at }))
    for (let i = 0; i < newer.length; i += 50) {
      await table.transact(newer.slice(i, i + 50).map((item) => NewerEntity.replace(item)))
    }
    const event = newEvent(clock, { type: 'sandbox.triggered', workspace_id: 'ws_newer', data: {} })
    await table.transact([OutboxEntity.create(event)])
    platform.outbox.length = 0
    platform.clock.advance(MINUTE)
    const due = await table.due(clock.now(), 1_000)
    const isKnown = ({ entity }: { entity: string }) => entity === OutboxEntity.name
    expect(due.findIndex(isKnown)).toBe(150)
    const perShard = [0, 1].map((shard) => due.filter((one) => one.shard === shard && !isKnown(one)).length)
    expect(Math.min(...perShard)).toBeGreaterThanOrEqual(60)
    handled.length = 0
    platform.logs.length = 0
    const { shard } = due.find(isKnown) as DueItem
    return { id: event.id, newer, shard, unknown: perShard[shard] as number }
  }
  const stored = (items: readonly { id: string }[]) =>
    platform.deps.table.getAll(items.map(({ id }) => NewerEntity.ref({ id })))

  it('are skipped with one warning, stay as they are, and don’t block or count with those behind them', async () => {
    const { id, newer } = await leave()
    await sweepOverdue(createWorkerWork(platform.deps), HANDLERS)
    expect(handled).toEqual([OutboxEntity.key({ id }).pk])
    expect(await stored(newer)).toEqual(newer)
    expect(warnings()).toEqual([
      expect.objectContaining({ level: 'warn', kinds: [{ entity: 'newer-kind', count: 150 }] }),
    ])
    expect(logged('overdue record failed')).toEqual([])
    const mark = await platform.deps.table.get(SweepMarkEntity, { name: 'overdue' })
    expect(mark).toMatchObject({ found: 1, failed: 0 })
    expect(mark?.oldest_ms).toBeLessThan(2 * MINUTE)
    expect(logged('overdue sweep')).toMatchObject([{ OverdueFound: 1, OverdueFailed: 0 }])
    expect(platform.messages.filter(({ queue }) => queue === 'overdue')).toEqual([])
  })

  it('are skipped by the worker of one shard, too', async () => {
    const { id, newer, shard, unknown } = await leave()
    await sweepShard(createWorkerWork(platform.deps), HANDLERS, shard)
    expect(handled).toEqual([OutboxEntity.key({ id }).pk])
    expect(await stored(newer)).toEqual(newer)
    expect(warnings()).toMatchObject([{ kinds: [{ entity: 'newer-kind', count: unknown }] }])
  })
})
