import { FileEntity, type FileRecord, LooseObjectEntity } from '../../entities/files.ts'
import type { Installation } from '../../entities/installations.ts'
import { iso, SECOND } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ifUnchanged, type Write } from '../../table/entity.ts'
import { exists } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { decodeContent, requireSize } from './content.ts'
import { checkFolder } from './folders.ts'
import { MARK_LIFE, objectOf } from './loose.ts'
import { presentFile } from './present.ts'
import { takeQuota } from './quota.ts'
import type { CreatedFileView, CreateFile } from './schemas.ts'

/** Whose file it is to be. */
export interface FileOwner {
  workspace_id: string
  created_by: FileRecord['created_by']
}

/** A file that an agent makes. */
export const ownerOf = ({ id, workspace_id, app_name }: Installation): FileOwner => ({
  workspace_id,
  created_by: { type: 'agent', id, name: app_name },
})

export interface FileFields {
  name: string
  content_type: string
  folder_id?: string | undefined
}

/**
 * Creates a file from content, or a pending one with the address that its content is to be put to (decisions §8 "Files").
 * @throws `payload_too_large`, `not_found` for the folder, `forbidden` when the organization's quota is used up
 */
export const createFile = async (work: Work, owner: FileOwner, input: CreateFile): Promise<CreatedFileView> => {
  const bytes = decodeContent(input)
  if (!bytes) return createUpload(work, owner, input, input.size ?? 0)
  const { file, writes } = await storeFile(work, owner, input, bytes)
  const view = presentFile(file)
  await work.commit(writes, view)
  return view
}

/**
 * Stores content. The object is in the bucket when this returns; the file is there when the writes are committed. A worker
 * that dies in between leaves a mark, by which the sweep removes the object and gives the quota back, unless a retry under
 * the same Idempotency-Key finishes it before.
 */
export const storeFile = async (
  work: Work,
  owner: FileOwner,
  fields: FileFields,
  bytes: Uint8Array,
  /** That its folder is there; none for a folder that the same transaction creates. */
  folder: Write[] = checkFolder(owner.workspace_id, fields.folder_id),
): Promise<{ file: FileRecord; writes: Write[] }> => {
  const file: FileRecord = { ...newFile(work, owner, fields, bytes.byteLength), status: 'ready' }
  const { workspace_id, size } = file
  const mark = { workspace_id, file_id: file.id, size, due_at: file.created_at + MARK_LIFE }
  // Or the first try under this key got this far: its mark and its place in the quota are this one's.
  await ifUnchanged(work.commit([LooseObjectEntity.create(mark), ...takeQuota(workspace_id, size), ...folder]))
  await work.objects.put(objectOf(workspace_id, file.id), bytes, file.content_type)
  const owned = LooseObjectEntity.delete(mark, { where: { file_id: exists } })
  return { file, writes: [FileEntity.create(file), owned, ...folder] }
}

const createUpload = async (
  work: Work,
  owner: FileOwner,
  fields: FileFields,
  size: number,
): Promise<CreatedFileView> => {
  requireSize(size, LIMITS.fileUploadBytes, 'an upload')
  const created = newFile(work, owner, fields, size)
  const file: FileRecord = {
    ...created,
    status: 'pending',
    upload_until: created.created_at + LIMITS.uploadEnd,
    due_at: created.created_at + LIMITS.pendingFileLife,
  }
  const { url, headers } = await work.objects.presignPut(objectOf(file.workspace_id, file.id), {
    size,
    contentType: file.content_type,
    expiresIn: LIMITS.uploadAddressLife / SECOND,
  })
  const expires_at = iso(file.created_at + LIMITS.uploadAddressLife)
  const view: CreatedFileView = { ...presentFile(file), upload: { method: 'PUT', url, headers, expires_at } }
  const folder = checkFolder(file.workspace_id, fields.folder_id)
  await work.commit([FileEntity.create(file), ...takeQuota(file.workspace_id, size), ...folder], view)
  return view
}

const newFile = (work: Work, owner: FileOwner, { name, content_type, folder_id }: FileFields, size: number) => ({
  ...owner,
  id: work.id('file'),
  ...(folder_id !== undefined && { folder_id }),
  name,
  content_type,
  size,
  created_at: work.clock.now(),
})
