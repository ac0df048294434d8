import { signal } from '@preact/signals'
import { Failure, toFailure } from '../../session/failure.ts'
import { announce } from '../../ui/announce.tsx'
import { refresh } from '../../ui/data.ts'
import { t } from '../../ui/messages.ts'
import { api, type Schemas, unwrap } from './api.ts'
import { type Address, createFile, discard, noticeUpload, putContent } from './upload.ts'

/**
 * Uploads to the workspace's files. They continue while the user visits other screens. An upload that loses its connection starts
 * again by itself: the bucket stores an object only as a whole, so nothing of an interrupted one is left. After a reload the
 * page no longer has the file, so the upload continues once the user chooses it again.
 */

/**
 * - `queued`: waits for the uploads before it
 * - `sending`: is being sent
 * - `waiting`: waits for the connection
 * - `interrupted`: the page was reloaded, and the file has to be chosen again
 * - `failed`: was given up
 */
export type UploadState = 'queued' | 'sending' | 'waiting' | 'interrupted' | 'failed'

export interface Upload {
  key: string
  /** Id of the pending file, once it exists. */
  id?: string
  /** Person and workspace. */
  owner: string
  folder: string
  name: string
  size: number
  modified: number
  sent: number
  state: UploadState
  failure?: Failure
}

export const uploads = signal<readonly Upload[]>([])

/** Contents, and what stops an upload, by key. */
const contents = new Map<string, File>()
const stops = new Map<string, AbortController>()
const addresses = new Map<string, Address>()

const AT_ONCE = 2
const KEPT = 'console-uploads'
/** Attempts in a row without progress before an upload is given up, and the pauses between them. */
const ATTEMPTS = 8
const PAUSE_MS = { first: 500, most: 15_000 }
/** Time before the end of an address in which no upload begins. */
const MARGIN_MS = 10_000

const change = (key: string, fields: Partial<Upload>): void => {
  uploads.value = uploads.value.map((one) => (one.key === key ? { ...one, ...fields } : one))
  if ('id' in fields || 'state' in fields) keep()
}

const remove = (key: string): void => {
  uploads.value = uploads.value.filter((one) => one.key !== key)
  contents.delete(key)
  stops.delete(key)
  addresses.delete(key)
  keep()
}

/** Keeps what a reload must not lose. Contents and addresses aren't kept: an address grants access. */
const keep = (): void => {
  const kept = uploads.value.map(({ failure: _, ...one }) => one)
  if (kept.length > 0) sessionStorage.setItem(KEPT, JSON.stringify(kept))
  else sessionStorage.removeItem(KEPT)
}

/** Forgets the pending file of an upload. */
const forgetFile = (key: string): void => {
  uploads.value = uploads.value.map((one) => {
    if (one.key !== key) return one
    const { id: _, ...rest } = one
    return rest
  })
  keep()
}

let restored = false

/** Shows the uploads that a reload interrupted. */
export const restoreUploads = (): void => {
  if (restored) return
  restored = true
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? '[]') as Upload[]
    uploads.value = [...uploads.value, ...kept.map((one) => ({ ...one, sent: 0, state: 'interrupted' as const }))]
  } catch {
    sessionStorage.removeItem(KEPT)
  }
}

const isActive = ({ state }: Upload): boolean => state === 'queued' || state === 'sending' || state === 'waiting'

/** Warns before the page closes while something is being sent. */
const warn = (event: BeforeUnloadEvent): void => event.preventDefault()

const next = (): void => {
  const active = uploads.value.filter(isActive)
  if (active.length > 0) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
  const free = AT_ONCE - active.filter(({ state }) => state !== 'queued').length
  for (const one of active.filter(({ state }) => state === 'queued').slice(0, Math.max(0, free))) {
    const stop = new AbortController()
    stops.set(one.key, stop)
    change(one.key, { state: 'sending', sent: 0 })
    void send(one.key, stop.signal).finally(next)
  }
}

/** Adds files to the queue. One that was interrupted in the same folder continues instead. */
export const addUploads = (files: Iterable<File>, owner: string, folder: string): void => {
  for (const file of files) {
    const { name, size, lastModified: modified } = file
    const same = uploads.value.find(
      (one) =>
        one.owner === owner &&
        one.folder === folder &&
        (one.state === 'interrupted' || one.state === 'failed') &&
        isSame(one, file),
    )
    const key = same?.key ?? crypto.randomUUID()
    contents.set(key, file)
    if (same) change(key, { state: 'queued', sent: 0 })
    else {
      uploads.value = [...uploads.value, { key, owner, folder, name, size, modified, sent: 0, state: 'queued' }]
      keep()
    }
  }
  next()
}

const isSame = ({ name, size, modified }: Upload, file: File): boolean =>
  name === file.name && size === file.size && modified === file.lastModified

/** Continues an upload, with the file if it has to be chosen again. @returns false for another file than before */
export const resumeUpload = (one: Upload, file?: File): boolean => {
  if (file && !isSame(one, file)) return false
  if (file) contents.set(one.key, file)
  if (!contents.has(one.key)) return false
  change(one.key, { state: 'queued', sent: 0 })
  next()
  return true
}

/** Ends an upload and deletes its pending file. */
export const cancelUpload = async ({ key }: Upload): Promise<void> => {
  const { id } = uploads.value.find((one) => one.key === key) ?? {}
  stops.get(key)?.abort()
  remove(key)
  if (id) await discard(id)
  next()
  await refresh('files')
}

const send = async (key: string, signal: AbortSignal): Promise<void> => {
  const file = contents.get(key)
  const one = uploads.value.find((upload) => upload.key === key)
  if (!file || !one) return
  try {
    const id = one.id ?? (await create(one, file, signal))
    // A cancelled request may have created the file all the same.
    if (signal.aborted) return void (await discard(id))
    if (addresses.has(key) || one.id) await sendContent(key, id, file, signal)
    if (signal.aborted) return
    remove(key)
    if (!uploads.value.some(isActive)) announce(t('Upload complete.'))
    await refresh('files')
  } catch (error) {
    if (!signal.aborted) change(key, { state: 'failed', failure: toFailure(error) })
  }
}

const create = async (one: Upload, file: File, signal: AbortSignal): Promise<string> => {
  const made = await persevere(one.key, signal, () => createFile(file, one.folder || undefined))
  if (made.upload) {
    addresses.set(one.key, made.upload)
    change(one.key, { id: made.id })
  }
  return made.id
}

/** Sends the content until it has arrived. @throws {Failure} */
const sendContent = async (key: string, id: string, file: File, signal: AbortSignal): Promise<void> => {
  let failures = 0
  let furthest = 0
  while (!signal.aborted) {
    const address = await addressOf(key, id, signal)
    if (!address) break
    change(key, { state: 'sending', sent: 0 })
    const status = await putContent(
      address,
      file,
      (sent) => {
        if (sent > furthest) failures = 0
        furthest = Math.max(furthest, sent)
        change(key, { sent })
      },
      signal,
    )
    if (signal.aborted) return
    if (status === 200 || status === 412) break
    // 403: the address has expired.
    if (status === 403) addresses.delete(key)
    failures += 1
    if (failures >= ATTEMPTS) {
      throw new Failure(
        'no_connection',
        0,
        t('The file couldn’t be uploaded.'),
        t('Check your connection, then try again.'),
      )
    }
    await pauseFor(key, failures, signal)
  }
  if (!signal.aborted) await persevere(key, signal, () => noticeUpload(id))
}

/** Returns an address that is still valid; undefined if the content has arrived already. */
const addressOf = async (key: string, id: string, signal: AbortSignal): Promise<Address | undefined> => {
  const known = addresses.get(key)
  if (known && Date.parse(known.expires_at) > Date.now() + MARGIN_MS) return known
  try {
    const path = { id }
    const { upload } = await persevere<Schemas['RenewedUpload']>(key, signal, () =>
      unwrap(api.POST('/console/files/{id}/upload', { params: { path } })),
    )
    addresses.set(key, upload)
    return upload
  } catch (error) {
    const failure = toFailure(error)
    if (failure.status === 409) return undefined
    // The pending file was removed in the meantime, so the next attempt creates another.
    if (failure.status === 404) forgetFile(key)
    throw failure
  }
}

/** Repeats a request of the platform while there is no connection. The same request has the same Idempotency-Key. */
const persevere = async <T>(key: string, signal: AbortSignal, request: () => Promise<T>): Promise<T> => {
  for (let failures = 1; ; failures++) {
    try {
      return await request()
    } catch (error) {
      const failure = toFailure(error)
      if (failure.status !== 0 || failures >= ATTEMPTS || signal.aborted) throw failure
      await pauseFor(key, failures, signal)
      change(key, { state: 'sending' })
    }
  }
}

/** Waits before the next attempt, or until the browser is online again. */
const pauseFor = async (key: string, failures: number, signal: AbortSignal): Promise<void> => {
  change(key, { state: 'waiting' })
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const pause = Math.min(PAUSE_MS.first * 2 ** (failures - 1), PAUSE_MS.most)
    // Offline, only the browser knows when an attempt makes sense again.
    const timer = navigator.onLine ? setTimeout(done, pause) : undefined
    addEventListener('online', done)
    signal.addEventListener('abort', done)
  })
}
