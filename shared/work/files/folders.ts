import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps, Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'
import { isId, stampOf } from '#shared/kernel/ids.ts'
import { ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { either, exists, lte, missing } from '#shared/table/expressions.ts'
import type { Page } from '#shared/table/table.ts'
import { FileEntity, type Folder, FolderEntity, filesIn } from './entity.ts'
import { presentFolder } from './present.ts'
import type { FolderView } from './schemas.ts'

export const folderNotFound = () => fail('not_found', { message: 'Folder not found.' })

/**
 * Condition that the folder exists and isn't being deleted, for the transaction that puts a file into it.
 * @throws `not_found` for an invalid folder id; the transaction throws it for a folder of another workspace
 */
export const requireFolder = (workspace_id: string, id: string | undefined): Write[] => {
  if (id === undefined) return []
  if (!isId('folder', id)) throw folderNotFound()
  return [FolderEntity.check({ workspace_id, id }, { where: { due_at: missing }, otherwise: folderNotFound })]
}

const MOST_FOLDERS = 1_000

const countOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'folders' })

/**
 * Creates a folder. Several folders may have the same name, like files.
 * @throws `forbidden` if the workspace has the maximum number of folders
 */
export const createFolder = async (work: Work, workspace_id: string, name: string): Promise<FolderView> => {
  const folder: Folder = { ...stampOf(work.id('folder')), workspace_id, name }
  const view = presentFolder(folder)
  const count = countOf(workspace_id)
  await work.commit(
    [
      FolderEntity.create(folder),
      CounterEntity.upsert(
        count,
        { set: count, add: { n: 1 } },
        {
          where: { n: either(missing, lte(MOST_FOLDERS - 1)) },
          otherwise: () =>
            fail('forbidden', {
              message: `The workspace has the maximum of ${MOST_FOLDERS} folders.`,
              fix: 'Use an existing folder.',
              details: { limit: MOST_FOLDERS },
            }),
        },
      ),
    ],
    view,
  )
  return view
}

/** Lists a workspace's folders, newest first, without those that are being deleted. */
export const listFolders = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Folder>> => {
  const page = await table.query(FolderEntity, { workspace_id }, options)
  return { ...page, items: page.items.filter(({ due_at }) => due_at === undefined) }
}

/** Renames a folder. @throws `not_found` */
export const renameFolder = async (work: Work, workspace_id: string, id: string, name: string): Promise<FolderView> => {
  const folder = await loadFolder(work, workspace_id, id)
  const view = presentFolder({ ...folder, name })
  await work.commit(
    [FolderEntity.update(folder, { set: { name } }, { where: { due_at: missing }, otherwise: folderNotFound })],
    view,
  )
  return view
}

const loadFolder = async ({ table }: Pick<Deps, 'table'>, workspace_id: string, id: string): Promise<Folder> => {
  const folder = await table.get(FolderEntity, { workspace_id, id })
  if (!folder || folder.due_at !== undefined) throw folderNotFound()
  return folder
}

/** Files that are moved out of a deleted folder by the request, and by one call of the sweeper. */
const MOVED_AT_ONCE = 100
const MOVED_BY_SWEEPER = 1_000
const CONCURRENT_MOVES = 10

/** Time after which the sweeper looks again for files that the folder's list didn't show yet. */
const SETTLING = MINUTE

/**
 * Deletes a folder and moves its files out of it. From then on nothing can be put into the folder. Its files are moved at once
 * if there are few; the sweeper moves the rest, and then deletes the record.
 * @throws `not_found`
 */
export const deleteFolder = async (work: Work, workspace_id: string, id: string): Promise<void> => {
  const folder = await loadFolder(work, workspace_id, id)
  await work.commit([
    FolderEntity.update(
      folder,
      { set: { due_at: work.clock.now() + SETTLING } },
      { where: { due_at: missing }, otherwise: folderNotFound },
    ),
  ])
  try {
    await moveFilesOut(work, folder, MOVED_AT_ONCE)
  } catch (error) {
    work.log.warn('could not empty a deleted folder; the sweeper continues', { folder_id: id, error })
  }
}

/** Empties a deleted folder and deletes its record, for the sweeper. */
export const handleOverdueFolder = async (work: WorkerWork, key: Key): Promise<void> => {
  const folder = await work.table.getByKey(FolderEntity, key)
  const now = work.clock.now()
  if (folder?.due_at === undefined || folder.due_at > now) return
  const { workspace_id } = folder
  const moved = await moveFilesOut(work, folder, MOVED_BY_SWEEPER)
  // A file's own place in the list may lag behind, so the record is deleted only after a look that found nothing.
  await ifUnchanged(
    work.commit(
      moved > 0
        ? [FolderEntity.update(folder, { set: { due_at: now + SETTLING } })]
        : [
            FolderEntity.delete(folder, { where: { id: exists } }),
            CounterEntity.update(countOf(workspace_id), { add: { n: -1 } }),
          ],
    ),
  )
}

/** Moves up to `most` files out of a folder. @returns the number of files that were found in it */
const moveFilesOut = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, id }: Folder,
  most: number,
): Promise<number> => {
  const { items } = await table.listed(FileEntity, filesIn(workspace_id, id), { limit: most })
  const own = items.filter(({ folder_id }) => folder_id === id)
  await forEachConcurrently(own, CONCURRENT_MOVES, async (file) => {
    const list = { owner: filesIn(workspace_id, undefined), sort: file.id }
    // If it was deleted or moved in the meantime, nothing is left to do.
    await ifUnchanged(
      table.transact([FileEntity.update(file, { set: { folder_id: undefined }, list }, { where: { folder_id: id } })]),
    )
  })
  return own.length
}
