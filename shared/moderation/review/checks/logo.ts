import { readImageSize } from '#shared/kernel/image-size.ts'
import { callEvidence } from './endpoint.ts'
import { type Finding, type SubmissionCheck, truncate } from './subject.ts'
import { LOGO_BYTES, type Visit } from './visits.ts'

const LEAST = 64
const MOST = 4_096
const FIX = `Use a PNG, JPEG, GIF or WebP of ${LEAST} to ${MOST} pixels per side and at most 1 MiB, at a public address.`

/** Checks that the logo is an image, by its content type and its bytes, and that its size fits. */
export const logoImage: SubmissionCheck = async ({ visits }) =>
  visits.logo
    ? judgeLogo(await visits.logo)
    : { status: 'failed', message: 'The app has no logo.', fix: FIX, evidence: {} }

/** Checks what a logo's address answered. */
export const judgeLogo = ({ addresses, result }: Visit): Finding => {
  const base = { addresses: addresses.map(truncate), ...callEvidence(result) }
  if (result.kind === 'failure') {
    return {
      status: 'failed',
      message: 'The logo’s address does not answer.',
      fix: truncate(result.hint),
      evidence: base,
    }
  }
  const type = truncate(result.headers['content-type'] ?? '')
  const size = readImageSize(result.body)
  const evidence = {
    ...base,
    content_type: type,
    bytes: result.body.byteLength,
    format: size?.format ?? null,
    ...(size && { width: size.width, height: size.height }),
  }
  const failed = (message: string) => ({ status: 'failed' as const, message, fix: FIX, evidence })
  if (result.status < 200 || result.status >= 300) return failed(`The logo’s address answers with ${result.status}.`)
  if (result.truncated || result.body.byteLength > LOGO_BYTES) return failed('The logo is larger than 1 MiB.')
  if (result.decodeError !== undefined) return failed('The logo’s content encoding cannot be decoded.')
  if (/^image\/svg\+xml\b/i.test(type)) {
    return {
      status: 'warning',
      message: 'The logo is an SVG, which can contain scripts and has no fixed size.',
      fix: FIX,
      evidence,
    }
  }
  if (!size) return failed('The logo is not an image.')
  if (!/^image\//i.test(type)) return failed(`The logo’s content type is ${type || 'missing'}.`)
  const [short, long] = [Math.min(size.width, size.height), Math.max(size.width, size.height)]
  if (short < 1 || long > MOST) return failed(`The logo is ${size.width} × ${size.height} pixels.`)
  if (short < LEAST || long > 2 * short) {
    return {
      status: 'warning',
      message: `The logo is ${size.width} × ${size.height} pixels, which will not look good.`,
      fix: FIX,
      evidence,
    }
  }
  return { status: 'passed', message: 'The logo is an image of a suitable size.', evidence }
}
