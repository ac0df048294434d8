import { defineEndpoint } from '#shared/http/endpoint.ts'
import { fileCreation, fileList, fileRemoval } from '#shared/http/files.ts'
import {
  CreatedFileOrFolderSchema,
  CreateFileOrFolder,
  createFile,
  createFolder,
  DownloadSchema,
  loadDownload,
} from '#shared/work/files/index.ts'

const common = { group: 'console', caller: 'console' } as const
const fileId = { id: 'file' } as const

const list = defineEndpoint({
  ...common,
  ...fileList,
  id: 'console.files.list',
  path: '/console/files',
  description:
    'Without a filter, lists the files of all folders and uploaders. `created_by` names the uploader. Send ' +
    '`kind=folder` to list the folders instead.',
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
  response: DownloadSchema,
  errors: ['conflict'],
  needs: ['files:read'],
  secret: true,
  handler: ({ work, caller, params }) => loadDownload(work, caller.workspace.id, params.id),
})

const remove = defineEndpoint({
  ...common,
  ...fileRemoval,
  id: 'console.files.delete',
  path: '/console/files/{id}',
  description: 'Works for files uploaded by any person or agent.',
})

export const endpoints = [list, create, download, remove]
