import * as z from 'zod'
import { DAY } from '#shared/kernel/clock.ts'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

const usedRun = () => z.object({ id: z.string(), private_to: z.string().optional() })

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
    created_at: createdAt(),
    /** Run in which an agent created it, and the person if the run is private to one. */
    created_in: usedRun().optional(),
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

const folder = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    name: z.string(),
    created_at: createdAt(),
    /** Set while the folder is being deleted: the time at which the sweeper moves out the files that are still in it. */
    due_at: z.number().optional(),
  })

export type Folder = z.infer<ReturnType<typeof folder>>

export const FolderEntity = defineEntity({
  name: 'folder',
  schema: folder,
  pk: 'WS#{workspace_id}',
  sk: 'FOLDER#{id}',
  personal: { text: ['name'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
})

/** Period after its last use for which a file's use by a person or an agent is remembered. */
const USE_LIFE = 90 * DAY

/** Runs that a use names, the latest first. */
export const RUNS_PER_USE = 10

const fileUse = () =>
  z.object({
    workspace_id: z.string(),
    file_id: z.string(),
    actor_id: z.string(),
    actor: z.object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() }),
    /** Time of the latest read, renaming or move. */
    last_at: z.number(),
    read_at: z.number().optional(),
    changed_at: z.number().optional(),
    /** The latest runs in which an agent read the file. */
    runs: z.array(usedRun().extend({ at: z.number() })).optional(),
  })

export type FileUse = z.infer<ReturnType<typeof fileUse>>

/** A person's or an agent's use of a file: one record each, however often they use it. */
export const FileUseEntity = defineEntity({
  name: 'file-use',
  schema: fileUse,
  pk: 'WS#{workspace_id}',
  sk: 'FILEUSE#{file_id}#{actor_id}',
  personal: { names: ['actor'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: ({ last_at }) => last_at + USE_LIFE,
  hides: () => true,
})
