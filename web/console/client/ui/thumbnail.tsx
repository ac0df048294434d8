import { useEffect, useState } from 'preact/hooks'
import { safeUrl } from '../../../session/text.ts'
import { api, unwrap } from '../api.ts'
import { pixelsOf } from './image-pixels.ts'
import { imageType, LARGEST_THUMBNAIL, readBytes } from './preview-kind.ts'

/** Size of a small picture in pixels, for screens with two pixels per point. */
const SIDE = 80

/** Largest image that is decoded, in pixels. */
const MOST_PIXELS = 40_000_000

/** Small pictures to keep, and downloads at the same time. */
const KEPT = 300
const AT_ONCE = 3

/** Small pictures by file, as addresses of data. Null for files that have none. */
const made = new Map<string, string | null>()

let running = 0
const waiting: (() => void)[] = []

const turn = async (): Promise<void> => {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
}

const done = (): void => {
  running--
  waiting.shift()?.()
}

/** Scales an image down to a square in its middle. */
const shrink = async (bytes: Uint8Array, type: string): Promise<string | null> => {
  const image = await createImageBitmap(new Blob([bytes as BlobPart], { type }))
  const { width, height } = image
  const side = Math.min(width, height)
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = SIDE
  const context = canvas.getContext('2d')
  context?.drawImage(image, (width - side) / 2, (height - side) / 2, side, side, 0, 0, SIDE, SIDE)
  image.close()
  return context ? canvas.toDataURL('image/png') : null
}

const make = async (id: string, signal: AbortSignal): Promise<string | null> => {
  const params = { path: { id }, query: { thumbnail: 'true' as const } }
  const { download_url } = await unwrap(api.GET('/console/files/{id}/download', { params, signal }))
  const url = safeUrl(download_url)
  if (!url) return null
  const response = await fetch(url, { credentials: 'omit', signal })
  if (!response.ok) throw new Error('not there')
  const { bytes, cut } = await readBytes(response, LARGEST_THUMBNAIL)
  const type = imageType(bytes)
  const pixels = type && pixelsOf(type, bytes)
  return cut || !type || !pixels || pixels > MOST_PIXELS ? null : shrink(bytes, type)
}

/** A small picture of an image, made in the browser from the image itself. Shows the kind of the file until it is there. */
export default function Thumbnail({ id, label }: { id: string; label: string }) {
  const [picture, setPicture] = useState(made.get(id))
  useEffect(() => {
    if (made.has(id)) return setPicture(made.get(id))
    const ending = new AbortController()
    const load = async (): Promise<void> => {
      await turn()
      try {
        if (ending.signal.aborted) return
        const picture = await make(id, ending.signal)
        made.set(id, picture)
        const oldest = made.size > KEPT && made.keys().next().value
        if (oldest) made.delete(oldest)
        if (!ending.signal.aborted) setPicture(picture)
      } catch {
        // It shows its kind. The next time that it is in view, it is loaded again.
      } finally {
        done()
      }
    }
    void load()
    return () => ending.abort()
  }, [id])
  return picture ? <img src={picture} alt="" width="40" height="40" /> : <>{label}</>
}
