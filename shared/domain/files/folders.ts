import { type Folder, FolderEntity } from '../../entities/files.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Write } from '../../table/entity.ts'
import type { Page } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

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

/** A workspace's folders, newest first. */
export const listFolders = (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Folder>> => table.query(FolderEntity, { workspace_id }, options)
