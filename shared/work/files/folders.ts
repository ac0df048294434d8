import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lte, missing } from '#shared/table/expressions.ts'
import type { Page } from '#shared/table/table.ts'
import { type Folder, FolderEntity } from './entity.ts'
import { presentFolder } from './present.ts'
import type { FolderView } from './schemas.ts'

export const folderNotFound = () => fail('not_found', { message: 'Folder not found.' })

/**
 * Condition that the folder exists, for the transaction that puts a file into it.
 * @throws `not_found` for an invalid folder id; the transaction throws it for a folder of another workspace
 */
export const requireFolder = (workspace_id: string, id: string | undefined): Write[] => {
  if (id === undefined) return []
  if (!isId('folder', id)) throw folderNotFound()
  return [FolderEntity.check({ workspace_id, id }, { where: {}, otherwise: folderNotFound })]
}

const MOST_FOLDERS = 1_000

const countOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'folders' })

/**
 * Creates a folder. Several folders may have the same name, like files.
 * @throws `forbidden` if the workspace has the maximum number of folders
 */
export const createFolder = async (work: Work, workspace_id: string, name: string): Promise<FolderView> => {
  const folder: Folder = { id: work.id('folder'), workspace_id, name, created_at: work.clock.now() }
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

/** Lists a workspace's folders, newest first. */
export const listFolders = (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Folder>> => table.query(FolderEntity, { workspace_id }, options)
