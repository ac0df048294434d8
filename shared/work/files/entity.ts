import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const file = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    folder_id: z.string().optional(),
    name: z.string(),
    content_type: z.string(),
    size: z.number(),
    /** `pending` until the object of a presigned upload has been found. */
    status: z.enum(['ready', 'pending']),
    created_by: z.object({ type: z.enum(['user', 'agent', 'system']), id: z.string(), name: z.string() }),
    created_at: z.number(),
    /** Time until which its upload address may still store an object. Absent if the content came in a request. */
    upload_until: z.number().optional(),
    /** Time at which an unfinished upload is removed. */
    due_at: z.number().optional(),
  })

export type FileRecord = z.infer<ReturnType<typeof file>>

/** Owner of the list of files in a folder, or outside all folders. */
export const filesIn = (workspaceId: string, folderId: string | undefined): string =>
  `${workspaceId}#FILES#${folderId ?? 'root'}`

/** Key of the object with a file's content. */
export const objectOf = (workspace_id: string, file_id: string): string => `files/${workspace_id}/${file_id}`

export const FileEntity = defineEntity({
  name: 'file',
  schema: file,
  pk: 'WS#{workspace_id}',
  sk: 'FILE#{id}',
  personal: { names: ['created_by'], text: ['name'] },
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    objects: ({ workspace_id, id }) => [objectOf(workspace_id, id)],
  },
  due: true,
  list: ({ workspace_id, folder_id, id }) => ({ owner: filesIn(workspace_id, folder_id), sort: id }),
})

const looseObject = () =>
  z.object({ workspace_id: z.string(), file_id: z.string(), size: z.number(), due_at: z.number() })

export type LooseObject = z.infer<ReturnType<typeof looseObject>>

/**
 * Mark for an object without a file: while its content is being stored, or after its file was deleted. Written before the
 * object and removed after it, so that an object is always found, even if a worker fails in between. It counts towards the
 * workspace's quota until it is removed.
 */
export const LooseObjectEntity = defineEntity({
  name: 'loose-object',
  schema: looseObject,
  pk: 'WS#{workspace_id}',
  sk: 'LOOSE#{file_id}',
  personal: 'none',
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    objects: ({ workspace_id, file_id }) => [objectOf(workspace_id, file_id)],
  },
  due: true,
})

const folder = () => z.object({ id: z.string(), workspace_id: z.string(), name: z.string(), created_at: z.number() })

export type Folder = z.infer<ReturnType<typeof folder>>

export const FolderEntity = defineEntity({
  name: 'folder',
  schema: folder,
  pk: 'WS#{workspace_id}',
  sk: 'FOLDER#{id}',
  personal: { text: ['name'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
