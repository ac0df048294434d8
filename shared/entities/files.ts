import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const file = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    folder_id: z.string().optional(),
    name: z.string(),
    content_type: z.string(),
    size: z.number(),
    /** `pending` until the object of a presigned upload was seen. */
    status: z.enum(['ready', 'pending']),
    created_by: z.object({ type: z.enum(['user', 'agent', 'system']), id: z.string(), name: z.string() }),
    created_at: z.number(),
    /** Until when the address that it was uploaded to may still put an object there. Absent: it came in a request. */
    upload_until: z.number().optional(),
    /** By when a pending upload that nobody finished is removed. */
    due_at: z.number().optional(),
  })

export type FileRecord = z.infer<ReturnType<typeof file>>

/** The files of one folder, or of none. */
export const filesIn = (workspaceId: string, folderId: string | undefined): string =>
  `${workspaceId}#FILES#${folderId ?? 'root'}`

export const FileEntity = defineEntity<FileRecord>()({
  name: 'file',
  schema: file,
  pk: 'WS#{workspace_id}',
  sk: 'FILE#{id}',
  due: true,
  list: ({ workspace_id, folder_id, id }) => ({ owner: filesIn(workspace_id, folder_id), sort: id }),
})

const looseObject = () =>
  z.object({ workspace_id: z.string(), file_id: z.string(), size: z.number(), due_at: z.number() })

export type LooseObject = z.infer<ReturnType<typeof looseObject>>

/**
 * An object that no file owns: not yet, while its content is being stored, or not any more, after its file was deleted.
 * Written before the object is, and removed after it, so that a worker that dies in between leaves nothing that is not
 * found. It counts in the workspace's quota until it is removed.
 */
export const LooseObjectEntity = defineEntity<LooseObject>()({
  name: 'loose-object',
  schema: looseObject,
  pk: 'WS#{workspace_id}',
  sk: 'LOOSE#{file_id}',
  due: true,
})

const folder = () => z.object({ id: z.string(), workspace_id: z.string(), name: z.string(), created_at: z.number() })

export type Folder = z.infer<ReturnType<typeof folder>>

export const FolderEntity = defineEntity<Folder>()({
  name: 'folder',
  schema: folder,
  pk: 'WS#{workspace_id}',
  sk: 'FOLDER#{id}',
})
