import { agentFileOwner, type ContentInput, decodeContent, storeFile } from '#shared/work/files/index.ts'
import type { Executor } from './executor.ts'

type Args = ContentInput & { name: string; content_type?: string; folder_id?: string }

/**
 * `save_file`: stores content as a file, like `POST /api/v1/files`. The object is in the bucket when this returns. The
 * file exists once the call's transaction is committed.
 */
export const saveFile: Executor = async (work, { installation, run }, args) => {
  const given = args as unknown as Args
  const usual = given.content === undefined ? 'application/octet-stream' : 'text/plain; charset=utf-8'
  const fields = { ...given, content_type: given.content_type ?? usual }
  const bytes = decodeContent(given) ?? new Uint8Array()
  const { file, writes } = await storeFile(work, agentFileOwner(installation, run), fields, bytes)
  return {
    result: {
      file_id: file.id,
      name: file.name,
      size: file.size,
      content_type: file.content_type,
      folder_id: file.folder_id ?? null,
    },
    writes,
  }
}
