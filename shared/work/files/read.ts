import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { signDownloadUrl } from './download.ts'
import { FileEntity, type FileRecord, type FileUse, objectOf } from './entity.ts'
import { presentFile } from './present.ts'
import type { DownloadView, FileWithDownloadView } from './schemas.ts'
import { type FileUser, recordRead, useRef } from './uses.ts'

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

/** Loads a file and what is recorded of one user's use of it, in one read. @throws `not_found` */
export const loadFileAndUse = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  id: string,
  user: FileUser,
): Promise<{ file: FileRecord; use: FileUse | undefined }> => {
  const [file, use] = await table.getAll([FileEntity.ref({ workspace_id, id }), useRef({ workspace_id, id }, user)])
  if (!file) throw fileNotFound()
  return { file, use }
}

/**
 * Reads a file with the address of its content, and records who did. The first read that finds the object of a pending file
 * makes it ready.
 * @throws `not_found`
 */
export const readFile = async (
  work: Work,
  workspaceId: string,
  id: string,
  user: FileUser,
  { inline = false, thumbnail = false }: { inline?: boolean; thumbnail?: boolean } = {},
): Promise<FileWithDownloadView> => {
  const { file: found, use } = await loadFileAndUse(work, workspaceId, id, user)
  let file = found
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
  const isReady = file.status === 'ready'
  const [download_url] = await Promise.all([
    isReady ? signDownloadUrl(work, file, inline) : null,
    isReady && !(thumbnail && hasThumbnail(file)) && recordRead(work, file, user, use),
  ])
  return { ...presentFile(file), download_url }
}

/**
 * Returns the address to download a file from, for a page.
 * @throws `not_found`; `conflict` until its upload has been found
 */
export const loadDownload = async (
  work: Work,
  workspaceId: string,
  id: string,
  user: FileUser,
  as: { inline: boolean; thumbnail: boolean },
): Promise<DownloadView> => {
  const now = work.clock.now()
  const { name, content_type, size, download_url } = await readFile(work, workspaceId, id, user, as)
  if (download_url === null) {
    throw fail('conflict', {
      message: 'The file hasn’t been uploaded yet.',
      fix: 'Finish the upload to the address from the response that created the file, then try again.',
    })
  }
  return { download_url, expires_at: iso(now + LIMITS.downloadAddressLife), name, content_type, size }
}

/** Reports whether lists show a small picture of a file, which isn't recorded as a read. */
const hasThumbnail = ({ content_type, size }: Pick<FileRecord, 'content_type' | 'size'>): boolean =>
  /^image\/(png|jpeg|gif|webp|avif)$/.test(content_type) && size <= LIMITS.thumbnailBytes

/** Reports whether the object of a pending upload exists. Checks its size too, although the size was signed. */
export const isUploaded = async (
  { objects }: Pick<Deps, 'objects'>,
  { workspace_id, id, size }: FileRecord,
): Promise<boolean> => (await objects.head(objectOf(workspace_id, id))) === size

export const markReady = (file: FileRecord) =>
  FileEntity.update(file, { set: { status: 'ready', due_at: undefined } }, { where: { status: 'pending' } })

/**
 * Loads a file with its content, and records who did.
 * @returns undefined if it isn't uploaded yet, or larger than `maxBytes`
 * @throws `not_found`
 */
export const loadContent = async (
  deps: Pick<Work, 'table' | 'objects' | 'clock' | 'log' | 'commit'>,
  workspaceId: string,
  id: string,
  maxBytes: number,
  user: FileUser,
): Promise<{ file: FileRecord; bytes: Uint8Array } | undefined> => {
  const { file, use } = await loadFileAndUse(deps, workspaceId, id, user)
  if (file.size > maxBytes || (file.status === 'pending' && !(await isUploaded(deps, file)))) return undefined
  const [bytes] = await Promise.all([deps.objects.get(objectOf(workspaceId, id)), recordRead(deps, file, user, use)])
  return bytes && { file, bytes }
}
