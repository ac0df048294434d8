import * as z from 'zod'
import type { ConsoleCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { fileCreation, fileList, fileRemoval } from '#shared/http/files.ts'
import { pageQuery, wholeList } from '#shared/http/paging.ts'
import {
  CreatedFileOrFolderSchema,
  CreateFileOrFolder,
  createFile,
  createFolder,
  DownloadSchema,
  deleteFolder,
  EditFile,
  editFile,
  FileSchema,
  type FileUser,
  FileUseSchema,
  FolderSchema,
  fileSearch,
  listFileUses,
  loadDownload,
  RenameFolder,
  renameFolder,
  renewUpload,
  SEARCH_FITS,
  searchFiles,
  searchFits,
  UploadSchema,
} from '#shared/work/files/index.ts'

const common = { group: 'console', caller: 'console' } as const
const fileId = { id: 'file' } as const

const userOf = ({ user }: ConsoleCaller): FileUser => ({ actor: { type: 'user', id: user.id, name: user.name } })

const list = defineEndpoint({
  ...common,
  ...fileList,
  id: 'console.files.list',
  path: '/console/files',
  summary: 'List, sort and search the workspace’s files, or list its folders',
  description:
    'Without a filter, lists the files of all folders and uploaders, newest first. `created_by` names the uploader. ' +
    'Send `kind=folder` to list the folders instead.\n\nWith `q`, a page looks through up to 2,000 files. It can be ' +
    'short or empty while `has_more` is true; continue with its cursor. By name and size, a workspace of up to 5,000 ' +
    'files is sorted as a whole. In a larger one, a folder of up to 1,000 files is. Beyond that, the response is 409 ' +
    '`conflict`.',
  query: () => pageQuery(fileSearch()).refine(searchFits, SEARCH_FITS),
  list: {
    read: ({ work, caller, query }, page) => searchFiles(work, caller.workspace.id, query, page),
    present: (shown: object) => shown,
  },
  errors: ['not_found', 'conflict'],
})

const create = defineEndpoint({
  ...common,
  ...fileCreation,
  id: 'console.files.create',
  path: '/console/files',
  summary: 'Upload a file or create a folder',
  description:
    'With `kind: "folder"`, creates a folder, which takes only a `name`. A workspace can have up to 1,000 folders. ' +
    'Otherwise, uploads a file as `POST /api/v1/files` does. With `content` or `content_base64`, the file is `ready` ' +
    'immediately. With `size` instead, it is `pending`, and `upload` tells you where to upload its content, up to ' +
    '100 MiB. Agents with `files:read` can read the file.',
  body: CreateFileOrFolder,
  response: CreatedFileOrFolderSchema,
  handler: ({ work, caller, body }) => {
    const { user, workspace } = caller
    if ('kind' in body && body.kind === 'folder') return createFolder(work, workspace.id, body.name)
    const { id: workspace_id, is_sandbox } = workspace
    const owner = { workspace_id, is_sandbox, created_by: { type: 'user' as const, id: user.id, name: user.name } }
    return createFile(work, owner, body)
  },
})

const download = defineEndpoint({
  ...common,
  id: 'console.files.download',
  method: 'GET',
  path: '/console/files/{id}/download',
  params: fileId,
  summary: 'Get a download URL for a file',
  description:
    'Returns a URL instead of a redirect, because the page’s token must not be sent to the bucket. Let the browser ' +
    'open `download_url`. If the upload hasn’t been received yet, the response is 409 `conflict`.',
  query: () =>
    z.strictObject({
      inline: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({
          description:
            'Lets the browser show a PDF instead of saving it. A file of any other type is saved all the same, because it ' +
            'could run in the browser.',
        }),
      thumbnail: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({
          description:
            'For a small picture in a list. Doesn’t count as reading the file, if it is a PNG, JPEG, GIF, WebP or AVIF image of ' +
            'up to 2 MiB.',
        }),
    }),
  response: DownloadSchema,
  errors: ['conflict'],
  needs: ['files:read'],
  secret: true,
  handler: ({ work, caller, params, query }) =>
    loadDownload(work, caller.workspace.id, params.id, userOf(caller), query),
})

const renew = defineEndpoint({
  ...common,
  id: 'console.files.renewUpload',
  method: 'POST',
  path: '/console/files/{id}/upload',
  params: fileId,
  summary: 'Get a new upload URL for a pending file',
  description:
    'An upload that was interrupted starts again from its beginning. Within 15 minutes of the file’s creation, the first ' +
    'URL still works. After that, request another one, up to an hour before the pending file is removed. Whichever ' +
    'upload completes first stays. If the content has arrived, the response is 409 `conflict`.',
  response: UploadSchema,
  errors: ['conflict'],
  needs: ['files:read', 'files:write'],
  secret: true,
  handler: ({ work, caller, params }) => renewUpload(work, caller.workspace.id, params.id),
})

const edit = defineEndpoint({
  ...common,
  id: 'console.files.edit',
  method: 'PATCH',
  path: '/console/files/{id}',
  params: fileId,
  summary: 'Rename or move a file',
  description:
    'Fields that you leave out don’t change. Messages and tasks keep the name that the file had when it was attached. ' +
    'Nobody can change a file’s content.',
  body: EditFile,
  response: FileSchema,
  handler: ({ work, caller, params, body }) => editFile(work, caller.workspace.id, params.id, userOf(caller), body),
})

const uses = defineEndpoint({
  ...common,
  id: 'console.files.uses',
  method: 'GET',
  path: '/console/files/{id}/uses',
  params: fileId,
  summary: 'List who created, read or changed a file',
  description:
    'Lists up to 100 people and agents, the latest first: the creator, and everybody who read, renamed or moved the file ' +
    'within the last 90 days. Listing files and attaching them doesn’t count as reading.',
  list: 'page',
  response: FileUseSchema,
  handler: async ({ work, caller, params }) =>
    wholeList(await listFileUses(work, caller.workspace.id, caller.user.id, params.id)),
})

const rename = defineEndpoint({
  ...common,
  id: 'console.files.renameFolder',
  method: 'PATCH',
  path: '/console/folders/{id}',
  params: { id: 'folder' },
  summary: 'Rename a folder',
  body: RenameFolder,
  response: FolderSchema,
  handler: ({ work, caller, params, body }) => renameFolder(work, caller.workspace.id, params.id, body.name),
})

const removeFolder = defineEndpoint({
  ...common,
  id: 'console.files.deleteFolder',
  method: 'DELETE',
  path: '/console/folders/{id}',
  params: { id: 'folder' },
  summary: 'Delete a folder and keep its files',
  description:
    'Moves the folder’s files out of it. From this response on, nothing can be put into the folder. Up to 100 files are ' +
    'moved at once, and the rest within minutes.',
  status: 204,
  handler: async ({ work, caller, params }): Promise<undefined> => {
    await deleteFolder(work, caller.workspace.id, params.id)
    return undefined
  },
})

const remove = defineEndpoint({
  ...common,
  ...fileRemoval,
  id: 'console.files.delete',
  path: '/console/files/{id}',
  description: 'Works for files uploaded by any person or agent.',
})

export const endpoints = [list, create, download, renew, edit, uses, remove, rename, removeFolder]
