import { createHash } from 'node:crypto'
import type { OutboxEvent } from '../../entities/events.ts'
import {
  type PlatformCounter,
  type PlatformHour,
  PlatformHourEntity,
  PlatformNowEntity,
  platformField,
} from '../../entities/platform-statistics.ts'
import type { Run } from '../../entities/runs.ts'
import { HOUR, MINUTE } from '../../kernel/clock.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

type Added = { [C in PlatformCounter]?: number }

/** Everything that happens meets at these counters, so they are spread over the table's shards. */
type Sharded = { table: Pick<Deps['table'], 'shards'> }

const shardOf = ({ table }: Sharded, id: string): number =>
  createHash('sha256').update(id).digest().readUInt32BE(0) % table.shards

/**
 * Counts something that happened on the platform, for the transaction in which it happens or is counted; once in each, since
 * two ids may meet at the same shard.
 * @param at epoch ms: the quarter of an hour that it belongs to
 * @param id what spreads it over the shards
 */
export const countedOnPlatform = (deps: Sharded, at: number, id: string, added: Added): Write => {
  const quarter = Math.floor((at % HOUR) / (15 * MINUTE))
  const key = { shard: shardOf(deps, id), hour: new Date(at).toISOString().slice(0, 13) }
  const add: Record<string, number> = {}
  for (const [counter, n] of Object.entries(added)) {
    if (n) add[platformField(counter as PlatformCounter, quarter)] = n
  }
  return PlatformHourEntity.upsert(key, { set: key as PlatformHour, add })
}

const active = (deps: Sharded, id: string, by: 1 | -1): Write => {
  const shard = shardOf(deps, id)
  return PlatformNowEntity.upsert({ shard }, { set: { shard }, add: { active_runs: by } })
}

/**
 * What an event adds to the platform's counters, for the transaction that marks it as counted.
 * @param run what it tells of, while that is there; it counts without it
 * @param spread what chooses the shard; the same for events that are counted together
 */
export const platformWrites = (deps: Sharded, event: OutboxEvent, run: Run | undefined, spread: string): Write[] => {
  const count = (added: Added): Write => countedOnPlatform(deps, event.created_at, spread, added)
  switch (event.type) {
    case 'run.created':
      return [count({ runs: 1, sandbox_runs: run?.is_sandbox ? 1 : 0 }), active(deps, spread, 1)]
    case 'run.succeeded':
      return [count({ succeeded: 1, cost_units: run?.cost_units ?? 0 }), active(deps, spread, -1)]
    case 'run.failed':
      return [count({ failed: 1, cost_units: run?.cost_units ?? 0 }), active(deps, spread, -1)]
    case 'run.cancelled':
      return [count({ cancelled: 1, cost_units: run?.cost_units ?? 0 }), active(deps, spread, -1)]
    case 'installation.created':
      return [count({ installed: 1 })]
    case 'installation.removed':
      return [count({ uninstalled: 1 })]
    default:
      return []
  }
}
