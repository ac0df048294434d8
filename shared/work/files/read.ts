import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import type { Page } from '#shared/table/table.ts'
import { signDownloadUrl } from './download.ts'
import { FileEntity, type FileRecord, FolderEntity, filesIn, objectOf } from './entity.ts'
import { folderNotFound, listFolders } from './folders.ts'
import { presentFile, presentFolder } from './present.ts'
import type { DownloadView, FileFilter, FileView, FileWithDownloadView, FolderView } from './schemas.ts'

export const fileNotFound = () => fail('not_found', { message: 'File not found.' })

/** Loads a file. @throws `not_found` also for a file of another workspace, because the key contains the workspace's id */
export const loadFile = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  id: string,
): Promise<FileRecord> => {
  const file = await table.get(FileEntity, { workspace_id, id })
  if (!file) throw fileNotFound()
  return file
}

/**
 * Reads a file with the address of its content. The first read that finds the object of a pending file makes it ready.
 * @throws `not_found`
 */
export const readFile = async (work: Work, workspaceId: string, id: string): Promise<FileWithDownloadView> => {
  let file = await loadFile(work, workspaceId, id)
  if (file.status === 'pending' && (await isUploaded(work, file))) {
    try {
      await work.commit([markReady(file)])
      file = { ...file, status: 'ready' }
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // Another read made it ready, or it was deleted.
      file = await loadFile(work, workspaceId, id)
    }
  }
  const download_url = file.status === 'ready' ? await signDownloadUrl(work, file) : null
  return { ...presentFile(file), download_url }
}

/**
 * Returns the address to download a file from, for a page.
 * @throws `not_found`; `conflict` until its upload has been found
 */
export const loadDownload = async (work: Work, workspaceId: string, id: string): Promise<DownloadView> => {
  const now = work.clock.now()
  const { name, content_type, size, download_url } = await readFile(work, workspaceId, id)
  if (download_url === null) {
    throw fail('conflict', {
      message: 'The file hasn’t been uploaded yet.',
      fix: 'Finish the upload to the address from the response that created the file, then try again.',
    })
  }
  return { download_url, expires_at: iso(now + LIMITS.downloadAddressLife), name, content_type, size }
}

/** Reports whether the object of a pending upload exists. Checks its size too, although the size was signed. */
export const isUploaded = async (
  { objects }: Pick<Deps, 'objects'>,
  { workspace_id, id, size }: FileRecord,
): Promise<boolean> => (await objects.head(objectOf(workspace_id, id))) === size

export const markReady = (file: FileRecord) =>
  FileEntity.update(file, { set: { status: 'ready', due_at: undefined } }, { where: { status: 'pending' } })

/**
 * Loads a file with its content.
 * @returns undefined if it isn't uploaded yet, or larger than `maxBytes`
 * @throws `not_found`
 */
export const loadContent = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  workspaceId: string,
  id: string,
  maxBytes: number,
): Promise<{ file: FileRecord; bytes: Uint8Array } | undefined> => {
  const file = await loadFile(deps, workspaceId, id)
  if (file.size > maxBytes || (file.status === 'pending' && !(await isUploaded(deps, file)))) return undefined
  const bytes = await deps.objects.get(objectOf(workspaceId, id))
  return bytes && { file, bytes }
}

type Options = { limit: number; after?: string | undefined }

/**
 * Lists a workspace's files or folders, newest first, from their records. It doesn't check the bucket for pending uploads.
 * @throws `not_found` for a folder of another workspace
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

/** @param folder an id, `root` for files outside all folders, undefined for all files */
const filesOf = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  folder: string | undefined,
  options: Options,
): Promise<Page<FileRecord>> => {
  if (folder === undefined) return table.query(FileEntity, { workspace_id }, options)
  if (folder === 'root') return table.listed(FileEntity, filesIn(workspace_id, undefined), options)
  if (!isId('folder', folder) || !(await table.get(FolderEntity, { workspace_id, id: folder }))) throw folderNotFound()
  return table.listed(FileEntity, filesIn(workspace_id, folder), options)
}
