import { InstallationEntity } from '../../entities/installations.ts'
import { AccountEntity } from '../../entities/messenger.ts'
import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import { AuditEntity } from '../../entities/platform.ts'
import { DAY, MINUTE } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ifUnchanged } from '../../table/entity.ts'
import type { Page } from '../../table/table.ts'
import type { Work } from '../deps.ts'
import { removalWrites as uninstalling } from '../installations/remove.ts'
import { removalWrites as disconnecting } from '../messenger/remove.ts'
import { placeOfWorkspace, rosterWrites } from '../roster/places.ts'
import { type Budget, spend } from './budget.ts'
import { emptying } from './empty.ts'
import { rootsOf } from './fates.ts'

/**
 * In which requests that came in before the end, uploads to addresses that they answered, and workers that end what was under
 * way, are over. Nothing would lead to what an upload brought later.
 */
const SETTLING = LIMITS.uploadEnd + 15 * MINUTE

/**
 * After this what could not be ended in an orderly way is removed all the same. A worker gives up sooner on a webhook that
 * Telegram does not take off (messenger/settle.ts).
 */
const PATIENCE = 2 * DAY

const SYSTEM = { type: 'system', id: 'workspace-removal' } as const

/**
 * Removes a workspace whose grace is over: first its agents are uninstalled and its messenger accounts disconnected, as if
 * somebody did it, so that whatever counts them or acts for them ends it; then everything it has goes, the workspace last.
 * The audit stays.
 * @throws {Paused} when the round is used up
 */
export const removeWorkspace = async (work: Work, id: string, budget: Budget): Promise<void> => {
  const workspace = await work.table.get(WorkspaceEntity, { id })
  const now = work.clock.now()
  if (workspace?.status !== 'deleting' || workspace.deletes_at === undefined || workspace.deletes_at > now) return
  const began = await beginning(work, workspace)
  if (began === undefined) return
  const since = now - began
  const open = since > PATIENCE ? 0 : await windDown(work, workspace, budget)
  if (since < SETTLING || open > 0) return
  const { empty } = emptying(work, budget)
  // Its own partition last: what is in the others is found by its id alone.
  for (const partition of rootsOf(id).reverse()) await empty(partition)
  await work.table.transact([
    WorkspaceEntity.delete(workspace, { where: { status: 'deleting', name: workspace.name } }),
    ...rosterWrites(placeOfWorkspace(workspace), undefined),
    AuditEntity.create({
      id: work.id('audit'),
      scope: id,
      action: 'workspace.removed',
      actor: SYSTEM,
      target: { type: 'workspace', id },
      details: {},
      created_at: now,
    }),
  ])
}

/**
 * When its removal began, from which everything in it has its time: rounds may come long after the grace. Written down before
 * anything is ended.
 * @returns undefined where somebody else changed the workspace just now: the next round sees it
 */
const beginning = async (work: Work, workspace: Workspace): Promise<number | undefined> => {
  const { deletes_at = 0, removal_began_at = 0 } = workspace
  // Not that of an earlier deletion, which was taken back in its last moment.
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

/** @returns how many are not ended yet */
const windDown = async (work: Work, { id: workspace_id }: Workspace, budget: Budget): Promise<number> => {
  let open = 0
  await pages(
    (after) => work.table.query(InstallationEntity, { workspace_id }, { limit: PAGE, after, ascending: true }),
    async (installation) => {
      if (installation.status === 'revoked') return
      open += 1
      spend(budget)
      // Or somebody else is faster: the next round sees it.
      await ifUnchanged(work.commit(uninstalling(work, SYSTEM, installation)))
    },
  )
  await pages(
    (after) => work.table.query(AccountEntity, { workspace_id }, { limit: PAGE, after, ascending: true }),
    async (account) => {
      open += 1
      if (account.status === 'removing') return
      spend(budget)
      await ifUnchanged(work.commit(await disconnecting(work, account)))
    },
  )
  return open
}

const pages = async <T>(
  read: (after: string | undefined) => Promise<Page<T>>,
  each: (item: T) => Promise<void>,
): Promise<void> => {
  let after: string | undefined
  do {
    const { items, next }: Page<T> = await read(after)
    for (const item of items) await each(item)
    after = next
  } while (after !== undefined)
}
