import { CounterEntity } from '../../entities/developers.ts'
import { type Folder, FolderEntity } from '../../entities/files.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Write } from '../../table/entity.ts'
import { either, lte, missing } from '../../table/expressions.ts'
import type { Page } from '../../table/table.ts'
import type { Deps, Work } from '../deps.ts'
import { presentFolder } from './present.ts'
import type { FolderView } from './schemas.ts'

export const noFolder = () => fail('not_found', { message: 'There is no such folder.' })

/**
 * That the folder is there, as part of the transaction that puts a file into it.
 * @throws `not_found` for what is no folder's id; the transaction throws it for one that is not of this workspace
 */
export const checkFolder = (workspace_id: string, id: string | undefined): Write[] => {
  if (id === undefined) return []
  if (!isId('folder', id)) throw noFolder()
  return [FolderEntity.check({ workspace_id, id }, { where: {}, otherwise: noFolder })]
}

const MOST_FOLDERS = 1_000

const countOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'folders' })

/**
 * A new folder. Names may repeat, as those of files do.
 * @throws `forbidden` when the workspace has as many as it may
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
              message: `The organization may keep ${MOST_FOLDERS} folders.`,
              fix: 'Put the files into a folder that is there.',
              details: { limit: MOST_FOLDERS },
            }),
        },
      ),
    ],
    view,
  )
  return view
}

/** A workspace's folders, newest first. */
export const listFolders = (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Folder>> => table.query(FolderEntity, { workspace_id }, options)
