import { createFile } from '#shared/domain/files/create.ts'
import { createFolder } from '#shared/domain/files/folders.ts'
import { downloadOf, listFiles } from '#shared/domain/files/read.ts'
import { deleteFile } from '#shared/domain/files/remove.ts'
import {
  CreatedFileOrFolderSchema,
  CreateFileOrFolder,
  DownloadSchema,
  FOLDER_FITS,
  fileFilters,
  folderFits,
  ListedFileSchema,
} from '#shared/domain/files/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

const common = { group: 'console', caller: 'console' } as const
const fileId = { id: 'file' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.files.list',
  method: 'GET',
  path: '/console/files',
  summary: 'List the workspace’s files or folders, newest first',
  description:
    'Without a filter all files, whatever folder they are in and whoever uploaded them: `created_by` says who. ' +
    '`kind=folder` lists the folders instead.',
  query: () => pageQuery(fileFilters()).refine(folderFits, FOLDER_FITS),
  list: 'page',
  response: ListedFileSchema,
  errors: ['not_found'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.files.list', query.kind, query.folder_id ?? null],
      query,
      (options) => listFiles(work, caller.workspace.id, query, options),
      (shown) => shown,
    ),
})

const create = defineEndpoint({
  ...common,
  id: 'console.files.create',
  method: 'POST',
  path: '/console/files',
  summary: 'Upload a file, or create a folder',
  description:
    'With `kind: "folder"` a folder, which takes a `name` only; at most 1,000 in a workspace. Else a file, as in ' +
    '`POST /api/v1/files`: with `content` or `content_base64` it is `ready` at once; with `size` instead it is `pending`, ' +
    'and `upload` says where to put its content, up to 100 MiB. Agents with `files:read` can read it.',
  body: CreateFileOrFolder,
  maxBodyBytes: LIMITS.requestBodyBytes,
  status: 201,
  response: CreatedFileOrFolderSchema,
  errors: ['not_found', 'forbidden'],
  needs: ['files:write'],
  secret: true,
  handler: ({ work, caller, body }) => {
    const { user, workspace } = caller
    if ('kind' in body && body.kind === 'folder') return createFolder(work, workspace.id, body.name)
    const owner = { workspace_id: workspace.id, created_by: { type: 'user' as const, id: user.id, name: user.name } }
    return createFile(work, owner, body)
  },
})

const download = defineEndpoint({
  ...common,
  id: 'console.files.download',
  method: 'GET',
  path: '/console/files/{id}/download',
  params: fileId,
  summary: 'Get an address to download a file from',
  description:
    'An address instead of a redirect, because a page calls this with its token, which must not go along to the bucket: let ' +
    'the browser open `download_url`. While the upload was not seen yet it is 409 `conflict`.',
  response: DownloadSchema,
  errors: ['conflict'],
  needs: ['files:read'],
  secret: true,
  handler: ({ work, caller, params }) => downloadOf(work, caller.workspace.id, params.id),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.files.delete',
  method: 'DELETE',
  path: '/console/files/{id}',
  params: fileId,
  summary: 'Delete a file and its content',
  description: 'Whoever uploaded it, a person or an agent.',
  status: 204,
  needs: ['files:write'],
  handler: async ({ work, caller, params }) => {
    await deleteFile(work, caller.workspace.id, params.id)
    return undefined
  },
})

export const fileEndpoints = [list, create, download, remove]
