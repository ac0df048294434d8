import type { Work } from '#shared/foundation/work/index.ts'
import {
  deleteFile,
  FOLDER_FITS,
  fileFilters,
  folderFits,
  ListedFileSchema,
  listFiles,
} from '#shared/work/files/index.ts'
import { LIMITS } from '../kernel/limits.ts'
import { pageQuery } from './paging.ts'

const query = () => pageQuery(fileFilters()).refine(folderFits, FOLDER_FITS)

interface Asked {
  work: Work
  caller: { workspace: { id: string } }
}

/** The shared declarations of the endpoints that integrations and people use for a workspace's files. */
export const fileList = {
  method: 'GET',
  summary: 'List the workspace’s files or folders, newest first',
  query,
  list: {
    read: (
      { work, caller, query }: Asked & { query: Parameters<typeof listFiles>[2] },
      page: Parameters<typeof listFiles>[3],
    ) => listFiles(work, caller.workspace.id, query, page),
    present: (shown: object) => shown,
  },
  response: ListedFileSchema,
  errors: ['not_found'],
} as const

export const fileCreation = {
  method: 'POST',
  maxBodyBytes: LIMITS.requestBodyBytes,
  status: 201,
  errors: ['not_found', 'forbidden'],
  needs: ['files:write'],
  secret: true,
} as const

export const fileRemoval = {
  method: 'DELETE',
  params: { id: 'file' },
  summary: 'Delete a file and its content',
  status: 204,
  needs: ['files:write'],
  handler: async ({ work, caller, params }: Asked & { params: { id: string } }): Promise<undefined> => {
    await deleteFile(work, caller.workspace.id, params.id)
    return undefined
  },
} as const
