import { Failure } from '../../session/failure.ts'
import { t } from '../../ui/messages.ts'
import { api, type Schemas, unwrap } from './api.ts'

/** Largest file sent through the API, in bytes. Larger files go to an upload URL. */
const THROUGH_PLATFORM = 3_000_000

type Created = Schemas['CreatedFile']

/** Address that takes the content of a pending file. */
export type Address = NonNullable<Created['upload']>

const base64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () =>
      reject(new Failure('no_connection', 0, t('The file couldn’t be read.'), t('Choose it again.')))
    reader.readAsDataURL(file)
  })

/**
 * Creates a file in the workspace: a small one with its content, a large one with the address to upload it to.
 * @throws {Failure}
 */
export const createFile = async (file: File, folder_id?: string, signal?: AbortSignal): Promise<Created> => {
  const about = {
    name: file.name,
    content_type: file.type || 'application/octet-stream',
    ...(folder_id && { folder_id }),
  }
  const content = file.size <= THROUGH_PLATFORM ? { content_base64: await base64(file) } : { size: file.size }
  const body = { ...about, ...content }
  return (await unwrap(api.POST('/console/files', { body, ...(signal && { signal }) }))) as Created
}

/**
 * Sends a file's content to its address.
 * @returns the status: 200, or 412 if an earlier upload arrived. 0 without a connection.
 */
export const putContent = (
  { url, method, headers }: Address,
  file: File,
  onProgress: (sent: number) => void,
  signal?: AbortSignal,
): Promise<number> =>
  new Promise((resolve) => {
    // `fetch` doesn't report the progress of an upload.
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers as Record<string, string>)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => onProgress(loaded)
    request.onloadend = () => resolve(request.status)
    signal?.addEventListener('abort', () => request.abort())
    if (signal?.aborted) resolve(0)
    else request.send(file)
  })

/** Deletes a file, as far as it can be reached. */
export const discard = async (id: string): Promise<void> => {
  await api.DELETE('/console/files/{id}', { params: { path: { id } } }).catch(() => {})
}

/** Makes the platform notice a finished upload, because the bucket sends no events. @throws {Failure} */
export const noticeUpload = (id: string): Promise<unknown> =>
  unwrap(api.GET('/console/files/{id}/download', { params: { path: { id }, query: {} } }))

/**
 * Uploads a file that is attached to a message or a task.
 * @throws {Failure}
 */
export const upload = async (file: File): Promise<Created> => {
  const made = await createFile(file)
  if (!made.upload) return made
  const status = await putContent(made.upload, file, () => {})
  if (status !== 200 && status !== 412) {
    // A file without content is useless.
    await discard(made.id)
    throw new Failure('no_connection', 0, t('The file couldn’t be uploaded.'), t('Try again.'))
  }
  await noticeUpload(made.id).catch(() => {})
  return made
}
