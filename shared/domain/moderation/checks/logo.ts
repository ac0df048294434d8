import { seen } from './endpoint.ts'
import { imageSize } from './image-size.ts'
import { cut, type Look } from './subject.ts'
import { LOGO_BYTES } from './visits.ts'

const LEAST = 64
const MOST = 4_096
const FIX = `Use a PNG, JPEG, GIF or WebP of ${LEAST} to ${MOST} pixels each way and at most 1 MiB, that anybody may open.`

/** The logo is an image, by what it says it is and by its bytes, of a size that can be shown. */
export const logoImage: Look = async ({ visits }) => {
  if (!visits.logo) return { status: 'failed', message: 'The app has no logo.', fix: FIX, evidence: {} }
  const { addresses, result } = await visits.logo
  const base = { addresses: addresses.map(cut), ...seen(result) }
  if (result.kind === 'failure') {
    return { status: 'failed', message: 'The logo does not answer.', fix: cut(result.hint), evidence: base }
  }
  const type = cut(result.headers['content-type'] ?? '')
  const size = imageSize(result.body)
  const evidence = {
    ...base,
    content_type: type,
    bytes: result.body.byteLength,
    format: size?.format ?? null,
    ...(size && { width: size.width, height: size.height }),
  }
  const failed = (message: string) => ({ status: 'failed' as const, message, fix: FIX, evidence })
  if (result.status < 200 || result.status >= 300) return failed(`The logo answers with ${result.status}.`)
  if (result.truncated || result.body.byteLength > LOGO_BYTES) return failed('The logo is larger than 1 MiB.')
  if (result.decodeError !== undefined) return failed('The logo’s encoding cannot be read.')
  if (/^image\/svg\+xml\b/i.test(type)) {
    return {
      status: 'warning',
      message: 'The logo is an SVG, which can hold scripts and has no size of its own.',
      fix: FIX,
      evidence,
    }
  }
  if (!size) return failed('The logo is no image.')
  if (!/^image\//i.test(type)) return failed(`The logo’s content type is ${type || 'missing'}.`)
  const [short, long] = [Math.min(size.width, size.height), Math.max(size.width, size.height)]
  if (short < 1 || long > MOST) return failed(`The logo is ${size.width} × ${size.height} pixels.`)
  if (short < LEAST || long > 2 * short) {
    return {
      status: 'warning',
      message: `The logo is ${size.width} × ${size.height} pixels: it will not look well.`,
      fix: FIX,
      evidence,
    }
  }
  return { status: 'passed', message: 'The logo is an image of a fitting size.', evidence }
}
