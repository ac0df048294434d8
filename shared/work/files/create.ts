import type { Installation } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { iso, SECOND } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { decodeContent, requireMaxSize } from './content.ts'
import { FileEntity, type FileRecord, LooseObjectEntity, objectOf } from './entity.ts'
import { requireFolder } from './folders.ts'
import { MARK_LIFE } from './loose.ts'
import { presentFile } from './present.ts'
import { reserveQuota } from './quota.ts'
import { isUploaded, loadFile } from './read.ts'
import type { CreatedFileView, CreateFile, UploadView } from './schemas.ts'
import type { FileUser } from './uses.ts'

/** Workspace and author of a new file. */
export interface FileOwner {
  workspace_id: string
  /** The workspace is a sandbox, which has a smaller quota. */
  is_sandbox: boolean
  created_by: FileRecord['created_by']
  /** Run in which an agent creates it. */
  created_in?: FileRecord['created_in']
}

/** Returns the owner of a file that an agent creates, in a run or outside of one. */
export const agentFileOwner = (
  { id, workspace_id, is_sandbox, app_name }: Installation,
  run?: FileUser['run'],
): FileOwner => ({
  workspace_id,
  is_sandbox,
  created_by: { type: 'agent', id, name: app_name },
  ...(run && { created_in: { id: run.id, ...(run.private_to !== undefined && { private_to: run.private_to }) } }),
})

export interface FileFields {
  name: string
  content_type: string
  folder_id?: string | undefined
}

/**
 * Creates a file from content, or a pending file with the address to upload its content to
 * (contract/tasks-files-conversations.md#files).
 * @throws `payload_too_large`, `not_found` for the folder, `forbidden` if the workspace's quota is exhausted
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
 * Stores content. The object is in the bucket when this returns. The file exists once the writes are committed. A worker
 * that fails in between leaves a mark. By that the sweeper removes the object and returns its quota, unless a retry under
 * the same Idempotency-Key completes the file first.
 */
export const storeFile = async (
  work: Work,
  owner: FileOwner,
  fields: FileFields,
  bytes: Uint8Array,
  /** Condition that the folder exists. Empty for a folder that the same transaction creates. */
  folder: Write[] = requireFolder(owner.workspace_id, fields.folder_id),
): Promise<{ file: FileRecord; writes: Write[] }> => {
  const file: FileRecord = { ...newFile(work, owner, fields, bytes.byteLength), status: 'ready' }
  const { workspace_id, size } = file
  const mark = { workspace_id, file_id: file.id, size, due_at: file.created_at + MARK_LIFE }
  // If an earlier attempt under this key got this far, its mark and quota are reused.
  await ifUnchanged(
    work.commit([LooseObjectEntity.create(mark), ...reserveQuota(workspace_id, owner.is_sandbox, size), ...folder]),
  )
  await work.objects.put(objectOf(workspace_id, file.id), bytes, file.content_type)
  const owned = LooseObjectEntity.delete(mark, { where: { file_id: exists } })
  return { file, writes: [FileEntity.create(file), owned, ...folder] }
}

/**
 * Signs a new upload address for a file whose upload hasn't arrived, such as one that lost its connection for longer than the
 * first address lived. Whichever upload completes first stays: each address refuses to replace an object.
 * @throws `not_found`; `conflict` if the content has arrived, or the file is about to be removed
 */
export const renewUpload = (work: Work, workspaceId: string, id: string): Promise<UploadView> =>
  retryOnConflict(async () => {
    const file = await loadFile(work, workspaceId, id)
    const now = work.clock.now()
    if (file.status !== 'pending' || (await isUploaded(work, file))) {
      throw fail('conflict', { message: 'The content has been uploaded already.', fix: 'Download the file.' })
    }
    // Otherwise an address could outlive the file.
    if (file.due_at === undefined || file.due_at <= now + LIMITS.uploadEnd) {
      throw fail('conflict', {
        message: 'It’s too late to upload the content of this file.',
        fix: 'Create the file again with POST /console/files.',
      })
    }
    const upload = await signUpload(work, file)
    await work.commit(
      [FileEntity.update(file, { set: { upload_until: now + LIMITS.uploadEnd } }, { where: { status: 'pending' } })],
      { upload },
    )
    return { upload }
  })

/** Signs the address to upload a pending file's content to. */
const signUpload = async (work: Work, file: FileRecord): Promise<UploadView['upload']> => {
  const { url, headers } = await work.objects.presignPut(objectOf(file.workspace_id, file.id), {
    size: file.size,
    contentType: file.content_type,
    expiresIn: LIMITS.uploadAddressLife / SECOND,
  })
  return { method: 'PUT', url, headers, expires_at: iso(work.clock.now() + LIMITS.uploadAddressLife) }
}

const createUpload = async (
  work: Work,
  owner: FileOwner,
  fields: FileFields,
  size: number,
): Promise<CreatedFileView> => {
  requireMaxSize(size, LIMITS.fileUploadBytes, 'an upload')
  const created = newFile(work, owner, fields, size)
  // A repeated request creates the file at the time of its first attempt, and the upload begins now.
  const now = work.clock.now()
  const file: FileRecord = {
    ...created,
    status: 'pending',
    upload_until: now + LIMITS.uploadEnd,
    due_at: now + LIMITS.pendingFileLife,
  }
  const view: CreatedFileView = { ...presentFile(file), upload: await signUpload(work, file) }
  const folder = requireFolder(file.workspace_id, fields.folder_id)
  await work.commit(
    [FileEntity.create(file), ...reserveQuota(file.workspace_id, owner.is_sandbox, size), ...folder],
    view,
  )
  return view
}

const newFile = (
  work: Work,
  { workspace_id, created_by, created_in }: FileOwner,
  { name, content_type, folder_id }: FileFields,
  size: number,
) => ({
  workspace_id,
  created_by,
  ...(created_in && { created_in }),
  ...stampOf(work.id('file')),
  ...(folder_id !== undefined && { folder_id }),
  name,
  content_type,
  size,
})
