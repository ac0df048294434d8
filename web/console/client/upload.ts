import { Failure } from '../../session/failure.ts'
import { api, type Schemas, unwrap } from './api.ts'

/** Largest file sent through the API, in bytes. Larger files go to an upload URL. */
const THROUGH_PLATFORM = 3_000_000

const base64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(new Failure('no_connection', 0, 'The file couldn’t be read.', 'Choose it again.'))
    reader.readAsDataURL(file)
  })

/**
 * Uploads a file to the workspace.
 * @throws {Failure}
 */
export const upload = async (file: File, folder_id?: string): Promise<Schemas['CreatedFile']> => {
  const about = {
    name: file.name,
    content_type: file.type || 'application/octet-stream',
    ...(folder_id && { folder_id }),
  }
  const content = file.size <= THROUGH_PLATFORM ? { content_base64: await base64(file) } : { size: file.size }
  const made = (await unwrap(api.POST('/console/files', { body: { ...about, ...content } }))) as Schemas['CreatedFile']
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
    // A file without content is useless.
    await api.DELETE('/console/files/{id}', { params: { path: { id: made.id } } }).catch(() => {})
    throw new Failure('no_connection', 0, 'The file couldn’t be uploaded.', 'Try again.')
  }
  // The bucket sends no events. The platform notices the upload on the next read.
  await api.GET('/console/files/{id}/download', { params: { path: { id: made.id } } }).catch(() => {})
  return made
}
