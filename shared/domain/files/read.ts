import { FileEntity, type FileRecord, FolderEntity, filesIn } from '../../entities/files.ts'
import { iso } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { Page } from '../../table/table.ts'
import type { Deps, Work } from '../deps.ts'
import { downloadAddress } from './download.ts'
import { listFolders, noFolder } from './folders.ts'
import { objectOf } from './loose.ts'
import { presentFile, presentFolder } from './present.ts'
import type { DownloadView, FileFilter, FileView, FileWithDownloadView, FolderView } from './schemas.ts'

export const noFile = () => fail('not_found', { message: 'There is no such file.' })

/** @throws `not_found` also for a file of another workspace: its key cannot be built from this one's id */
export const loadFile = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  id: string,
): Promise<FileRecord> => {
  const file = await table.get(FileEntity, { workspace_id, id })
  if (!file) throw noFile()
  return file
}

/**
 * A file with the address of its content. A pending one is ready from the first read that sees its object.
 * @throws `not_found`
 */
export const readFile = async (work: Work, workspaceId: string, id: string): Promise<FileWithDownloadView> => {
  let file = await loadFile(work, workspaceId, id)
  if (file.status === 'pending' && (await hasArrived(work, file))) {
    try {
      await work.commit([becomesReady(file)])
      file = { ...file, status: 'ready' }
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // Another read was faster, or it was deleted.
      file = await loadFile(work, workspaceId, id)
    }
  }
  const download_url = file.status === 'ready' ? await downloadAddress(work, file) : null
  return { ...presentFile(file), download_url }
}

/**
 * Where to download a file from, for a page.
 * @throws `not_found`; `conflict` while its upload was not seen
 */
export const downloadOf = async (work: Work, workspaceId: string, id: string): Promise<DownloadView> => {
  const now = work.clock.now()
  const { name, content_type, size, download_url } = await readFile(work, workspaceId, id)
  if (download_url === null) {
    throw fail('conflict', {
      message: 'The file was not uploaded yet.',
      fix: 'Finish the upload to the address that creating the file gave, then ask again.',
    })
  }
  return { download_url, expires_at: iso(now + LIMITS.downloadAddressLife), name, content_type, size }
}

/** Whether the object of a pending upload is there. Its size was signed, and is looked at nevertheless. */
export const hasArrived = async (
  { objects }: Pick<Deps, 'objects'>,
  { workspace_id, id, size }: FileRecord,
): Promise<boolean> => (await objects.head(objectOf(workspace_id, id))) === size

export const becomesReady = (file: FileRecord) =>
  FileEntity.update(file, { set: { status: 'ready', due_at: undefined } }, { where: { status: 'pending' } })

type Options = { limit: number; after?: string | undefined }

/**
 * A workspace's files or folders, newest first, as their records are: a list looks into no bucket.
 * @throws `not_found` for a folder that is not of this workspace
 */
export const listFiles = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  { kind, folder_id }: FileFilter,
  options: Options,
): Promise<Page<FileView | FolderView>> => {
  if (kind === 'folder') {
    const { items, next } = await listFolders(deps, workspaceId, options)
    return { items: items.map(presentFolder), next }
  }
  const { items, next } = await filesOf(deps, workspaceId, folder_id, options)
  return { items: items.map(presentFile), next }
}

/** @param folder an id, `root` for those in no folder, undefined for all */
const filesOf = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  folder: string | undefined,
  options: Options,
): Promise<Page<FileRecord>> => {
  if (folder === undefined) return table.query(FileEntity, { workspace_id }, options)
  if (folder === 'root') return table.listed(FileEntity, filesIn(workspace_id, undefined), options)
  if (!isId('folder', folder) || !(await table.get(FolderEntity, { workspace_id, id: folder }))) throw noFolder()
  return table.listed(FileEntity, filesIn(workspace_id, folder), options)
}
