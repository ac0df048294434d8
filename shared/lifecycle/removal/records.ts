import { ENTITIES } from '#shared/entities.ts'
import { CounterEntity } from '#shared/foundation/claims/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { AgentDayEntity, WORKSPACE_SHARDS, WorkspaceNowEntity } from '#shared/insight/statistics/index.ts'
import type { PersonalFields } from '#shared/table/entity.ts'

/** Returns the partitions where a workspace's records start, including its own. */
export const rootsOf = (workspaceId: string): string[] => [
  WorkspaceEntity.partition({ id: workspaceId }),
  CounterEntity.partition({ owner: workspaceId }),
  WorkspaceNowEntity.partition({ workspace_id: workspaceId }),
  ...Array.from({ length: WORKSPACE_SHARDS }, (_, shard) =>
    AgentDayEntity.partition({ workspace_id: workspaceId, shard }),
  ),
]

/** Returns the partitions that an entity's record owns. */
export const partitionsOf = (entity: string, item: Record<string, unknown>): string[] =>
  (ENTITIES.get(entity)?.retention.partitions?.(item as never) ?? []).map(([name, fields]) => {
    const owned = ENTITIES.get(name)
    if (!owned) throw new Error(`the retention policy of ${entity} names no entity: ${name}`)
    return owned.partition(fields as never)
  })

/** Returns the fields of an entity that name people. */
export const namesIn = (entity: string): readonly string[] => personalIn(entity).names ?? []

/** Returns the personal fields of an entity. */
export const personalIn = (entity: string): PersonalFields => {
  const personal = ENTITIES.get(entity)?.personal
  return personal === undefined || personal === 'none' ? {} : personal
}

/** Returns the objects that a record's fields name (`storePayload`, `storeResult`), at any depth. */
export const payloadsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  const { object } = value as { object?: unknown }
  const own = typeof object === 'string' && /^(payloads|tasks)\//.test(object) ? [object] : []
  return [...own, ...Object.values(value).flatMap(payloadsIn)]
}
