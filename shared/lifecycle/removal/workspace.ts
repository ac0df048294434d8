import { InstallationEntity, removalWrites as uninstalling } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { removalWrites as disconnecting } from '#shared/messaging/messenger/index.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { placeOfWorkspace, rosterWrites } from '#shared/staff/roster/index.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { eachItem } from '#shared/table/pages.ts'
import { AccountEntity } from '#shared/work/threads/index.ts'
import { type Budget, spendBudget } from './budget.ts'
import { createPartitionRemover } from './partitions.ts'
import { rootsOf } from './records.ts'

/**
 * Time after which earlier requests, uploads to addresses that those requests returned, and workers that end active
 * work are over. Nothing would lead to objects that an upload brought later.
 */
const SETTLING = LIMITS.uploadEnd + 15 * MINUTE

/**
 * Time after which whatever could not be ended in the regular way is removed anyway. A worker gives up sooner on a
 * webhook that Telegram does not remove (messenger/settle.ts).
 */
const PATIENCE = 2 * DAY
const SYSTEM = { type: 'system', id: 'workspace-removal' } as const

/**
 * Removes a workspace whose grace period is over. First it uninstalls the agents and disconnects the messenger accounts
 * in the regular way, so that every counter and worker behind them ends too. Then it deletes everything in the
 * workspace, and the workspace record last, after the workspace's data key: backups of the table can't be opened without
 * it. The audit stays.
 * @throws {Paused} when the round is used up
 */
export const removeWorkspace = async (work: Work, id: string, budget: Budget): Promise<void> => {
  const workspace = await work.table.get(WorkspaceEntity, { id })
  const now = work.clock.now()
  if (workspace?.status !== 'deleting' || workspace.deletes_at === undefined || workspace.deletes_at > now) return
  const began = await recordRemovalStart(work, workspace)
  if (began === undefined) return
  const since = now - began
  const open = since > PATIENCE ? 0 : await windDown(work, workspace, budget)
  if (since < SETTLING || open > 0) return
  const { empty } = createPartitionRemover(work, budget)
  // Its own partition comes last: what is in the others is found by the workspace's id alone.
  for (const partition of rootsOf(id).reverse()) await empty(partition)
  await work.keys.destroyWorkspaceKey(id)
  await work.table.transact([
    WorkspaceEntity.delete(workspace, { where: { status: 'deleting', name: workspace.name } }),
    ...rosterWrites(placeOfWorkspace(workspace), undefined),
    auditEntry(work, {
      scope: id,
      action: 'workspace.removed',
      actor: SYSTEM,
      target: { type: 'workspace', id },
      details: {},
    }),
  ])
}

/**
 * Returns the time at which the removal began, which starts the clock for everything in the workspace. Rounds may run
 * long after the grace period. The time is stored before anything is ended.
 * @returns undefined if the workspace changed just now; the next round sees it
 */
const recordRemovalStart = async (work: Work, workspace: Workspace): Promise<number | undefined> => {
  const { deletes_at = 0, removal_began_at = 0 } = workspace
  // Ignores the start of an earlier deletion that was cancelled at the last moment.
  if (removal_began_at >= deletes_at) return removal_began_at
  const now = work.clock.now()
  const update = WorkspaceEntity.update(
    workspace,
    { set: { removal_began_at: now } },
    { where: { status: 'deleting', deletes_at } },
  )
  return (await ifUnchanged(work.commit([update]))) ? now : undefined
}

const PAGE = 25

/**
 * Winds down the workspace's installations and accounts.
 * @returns the number that have not ended yet
 */
const windDown = async (work: Work, { id: workspace_id }: Workspace, budget: Budget): Promise<number> => {
  let open = 0
  for await (const installation of eachItem((after) =>
    work.table.query(InstallationEntity, { workspace_id }, { limit: PAGE, after, ascending: true }),
  )) {
    if (installation.status === 'revoked') continue
    open += 1
    spendBudget(budget)
    // If another request is faster, the next round sees it.
    await ifUnchanged(work.commit(uninstalling(work, SYSTEM, installation)))
  }
  for await (const account of eachItem((after) =>
    work.table.query(AccountEntity, { workspace_id }, { limit: PAGE, after, ascending: true }),
  )) {
    open += 1
    if (account.status === 'removing') continue
    spendBudget(budget)
    await ifUnchanged(work.commit(await disconnecting(work, account)))
  }
  return open
}
