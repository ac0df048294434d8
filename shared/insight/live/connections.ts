import { UpdatesEntity } from '#shared/foundation/updates/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type LiveConnection, LiveConnectionEntity, type OpenPages, OpenPagesEntity } from './entity.ts'

type Recording = Pick<Deps, 'table' | 'clock'>
type Viewer = Pick<OpenPages, 'workspace_id' | 'user_id'>
export type NewConnection = Omit<OpenPages['open'][number], 'expires_at'>

/**
 * Records a connection. The workspace counts as watched before it is recorded, so no change is missed in between.
 * @returns false if the person has as many connections as allowed
 */
export const addConnection = async (
  { table, clock }: Recording,
  { workspace_id, user_id }: Viewer,
  connection: NewConnection,
): Promise<boolean> => {
  const { id } = connection
  const expires_at = clock.now() + LIMITS.liveConnectionLife
  await table.transact([UpdatesEntity.upsert({ workspace_id }, { set: { workspace_id, live_until: expires_at } })])
  return retryOnConflict(async () => {
    const pages = await table.get(OpenPagesEntity, { workspace_id, user_id })
    const others = live(clock.now(), pages).filter((one) => one.id !== id)
    if (others.length >= LIMITS.liveConnectionsPerPerson) return false
    const open = [...others, { ...connection, expires_at }]
    await table.transact([
      OpenPagesEntity.replace({ workspace_id, user_id, open, expires_at }, { where: unchanged(pages) }),
      LiveConnectionEntity.replace({ id, workspace_id, user_id, expires_at }),
    ])
    return true
  })
}

/** Removes connections of a person that have ended. */
export const removeConnections = async (
  { table, clock }: Recording,
  viewer: Viewer,
  ids: readonly string[],
): Promise<void> => {
  if (ids.length === 0) return
  const { workspace_id, user_id } = viewer
  await retryOnConflict(async () => {
    const pages = await table.get(OpenPagesEntity, { workspace_id, user_id })
    if (!pages) return
    const open = live(clock.now(), pages).filter(({ id }) => !ids.includes(id))
    await table.transact([
      open.length === 0
        ? OpenPagesEntity.delete({ workspace_id, user_id }, { where: unchanged(pages) })
        : OpenPagesEntity.replace({ ...pages, open }, { where: unchanged(pages) }),
    ])
  })
  await Promise.all(
    // The same connection may have been recorded for another workspace in the meantime.
    ids.map((id) => ifUnchanged(table.transact([LiveConnectionEntity.delete({ id }, { where: { workspace_id } })]))),
  )
}

/** Returns the person whose connection it is. */
export const findConnection = ({ table }: Pick<Deps, 'table'>, id: string): Promise<LiveConnection | undefined> =>
  table.get(LiveConnectionEntity, { id })

/** Returns a person's connections that can't have ended by themselves yet. */
export const live = (now: number, pages: OpenPages | undefined): OpenPages['open'] =>
  (pages?.open ?? []).filter(({ expires_at }) => expires_at > now)

const unchanged = (pages: OpenPages | undefined) => ({ open: pages ? pages.open : missing })
