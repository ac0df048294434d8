import { Failure } from '../../session/failure.ts'
import { api, type Schemas, take } from './api.ts'

/** Up to here a file goes through the platform itself; beyond, to the address that the platform gives for it. */
const THROUGH_PLATFORM = 3_000_000

const base64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(new Failure('no_connection', 0, 'The file cannot be read.'))
    reader.readAsDataURL(file)
  })

/**
 * Puts a file into the workspace.
 * @throws {Failure}
 */
export const upload = async (file: File, folder_id?: string): Promise<Schemas['CreatedFile']> => {
  const about = {
    name: file.name,
    content_type: file.type || 'application/octet-stream',
    ...(folder_id && { folder_id }),
  }
  // An empty file has nothing to upload elsewhere.
  const content = file.size <= THROUGH_PLATFORM ? { content_base64: await base64(file) } : { size: file.size }
  const made = (await take(api.POST('/console/files', { body: { ...about, ...content } }))) as Schemas['CreatedFile']
  if (!made.upload) return made
  const { url, method, headers } = made.upload
  const sent = await fetch(url, {
    method,
    headers: headers as Record<string, string>,
    body: file,
    credentials: 'omit',
  })
    .then(async (response) => {
      await response.arrayBuffer()
      return response
    })
    .catch(() => undefined)
  if (!sent?.ok) {
    // What has no content is of no use to anybody.
    await api.DELETE('/console/files/{id}', { params: { path: { id: made.id } } }).catch(() => {})
    throw new Failure('no_connection', 0, 'The file did not arrive.', 'Try again.')
  }
  // The bucket tells nobody: the platform sees the file when it is asked for it.
  await api.GET('/console/files/{id}/download', { params: { path: { id: made.id } } }).catch(() => {})
  return made
}
