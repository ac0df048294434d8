import { defineEndpoint } from '#shared/http/endpoint.ts'
import { fileCreation, fileList, fileRemoval } from '#shared/http/files.ts'
import {
  agentFileOwner,
  agentFileUser,
  CreatedFileSchema,
  CreateFile,
  createFile,
  FileWithDownloadSchema,
  readFile,
} from '#shared/work/files/index.ts'

const common = { group: 'api', caller: 'integration' } as const
const fileId = { id: 'file' } as const

const list = defineEndpoint({
  ...common,
  ...fileList,
  id: 'api.files.list',
  path: '/api/v1/files',
  scope: 'files:read',
  description: 'Without a filter, lists the files of all folders. Send `kind=folder` to list the folders instead.',
})

const read = defineEndpoint({
  ...common,
  id: 'api.files.read',
  method: 'GET',
  path: '/api/v1/files/{id}',
  scope: 'files:read',
  params: fileId,
  summary: 'Get a file’s metadata and a download URL',
  response: FileWithDownloadSchema,
  needs: ['files:read'],
  secret: true,
  handler: ({ work, caller, params }) => readFile(work, caller.workspace.id, params.id, agentFileUser(caller)),
})

const create = defineEndpoint({
  ...common,
  ...fileCreation,
  id: 'api.files.create',
  path: '/api/v1/files',
  scope: 'files:write',
  summary: 'Upload a file',
  description:
    'With `content` or `content_base64`, the file is `ready` immediately. With `size` instead, it is `pending`, and ' +
    '`upload` tells you where to upload its content, up to 100 MiB. Upload it once with a PUT request that has the ' +
    'given headers and exactly `size` bytes. The signed URL refuses any other length or type, and a second upload ' +
    'gets 412. A workspace can store up to 5 GiB in 100,000 files, including pending ones; beyond that, the response ' +
    'is 403 `forbidden`. A deleted file stops counting once its object is deleted: immediately, or an hour after its ' +
    'creation if it had an upload URL.',
  body: CreateFile,
  response: CreatedFileSchema,
  handler: ({ work, caller, body }) => createFile(work, agentFileOwner(caller.installation, caller.run), body),
})

const remove = defineEndpoint({
  ...common,
  ...fileRemoval,
  id: 'api.files.delete',
  path: '/api/v1/files/{id}',
  scope: 'files:write',
})

export const endpoints = [list, read, create, remove]
