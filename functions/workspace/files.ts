import { createFile, ownerOf } from '#shared/domain/files/create.ts'
import { listFiles, readFile } from '#shared/domain/files/read.ts'
import { deleteFile } from '#shared/domain/files/remove.ts'
import {
  CreatedFileSchema,
  CreateFile,
  FileWithDownloadSchema,
  FOLDER_FITS,
  fileFilters,
  folderFits,
  ListedFileSchema,
} from '#shared/domain/files/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

const common = { group: 'api', caller: 'integration' } as const
const fileId = { id: 'file' } as const

export const list = defineEndpoint({
  ...common,
  id: 'api.files.list',
  method: 'GET',
  path: '/api/v1/files',
  scope: 'files:read',
  summary: 'List the organization’s files or folders, newest first',
  description: 'Without a filter all files, whatever folder they are in. `kind=folder` lists the folders instead.',
  query: () => pageQuery(fileFilters()).refine(folderFits, FOLDER_FITS),
  list: 'page',
  response: ListedFileSchema,
  errors: ['not_found'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['api.files.list', query.kind, query.folder_id ?? null],
      query,
      (options) => listFiles(work, caller.workspace.id, query, options),
      (shown) => shown,
    ),
})

export const read = defineEndpoint({
  ...common,
  id: 'api.files.read',
  method: 'GET',
  path: '/api/v1/files/{id}',
  scope: 'files:read',
  params: fileId,
  summary: 'Read a file’s metadata, and get an address to download it from',
  response: FileWithDownloadSchema,
  needs: ['files:read'],
  secret: true,
  handler: ({ work, caller, params }) => readFile(work, caller.workspace.id, params.id),
})

export const create = defineEndpoint({
  ...common,
  id: 'api.files.create',
  method: 'POST',
  path: '/api/v1/files',
  scope: 'files:write',
  summary: 'Upload a file',
  description:
    'With `content` or `content_base64` the file is `ready` at once. With `size` instead it is `pending`, and `upload` says where to put its content, up to 100 MiB: a PUT with the given headers and exactly `size` bytes, once; another length or type is refused by its signature, a second upload with 412. An organization keeps at most 5 GiB in 100,000 files, pending ones included; beyond that it is 403 `forbidden`. A deleted file counts until its object is gone: at once, or an hour after its creation when it had an upload address.',
  body: CreateFile,
  maxBodyBytes: LIMITS.requestBodyBytes,
  status: 201,
  response: CreatedFileSchema,
  errors: ['not_found', 'forbidden'],
  needs: ['files:write'],
  secret: true,
  handler: ({ work, caller, body }) => createFile(work, ownerOf(caller.installation), body),
})

export const remove = defineEndpoint({
  ...common,
  id: 'api.files.delete',
  method: 'DELETE',
  path: '/api/v1/files/{id}',
  scope: 'files:write',
  params: fileId,
  summary: 'Delete a file and its content',
  status: 204,
  needs: ['files:write'],
  handler: async ({ work, caller, params }) => {
    await deleteFile(work, caller.workspace.id, params.id)
    return undefined
  },
})
