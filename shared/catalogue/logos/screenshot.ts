import type { Deps } from '#shared/foundation/work/index.ts'
import { readImageSize } from '#shared/kernel/image-size.ts'
import { logoObject } from './path.ts'
import { hashLogo } from './serve.ts'

/** Parses the name of a served screenshot. Returns undefined for any name that no response has. */
export const parseScreenshotFile = (file: string): { owner: string; hash: string } | undefined => {
  const [, owner, hash] = /^(app_[0-9a-z]{26})\.([0-9a-f]{64})$/.exec(file) ?? []
  return owner && hash ? { owner, hash } : undefined
}

/**
 * Renders a screenshot as an SVG around the stored image, for the same reasons as a logo. Returns undefined if it doesn't exist,
 * or isn't the image that its name says.
 */
export const renderScreenshot = async (
  { objects }: Pick<Deps, 'objects'>,
  { owner, hash }: { owner: string; hash: string },
): Promise<string | undefined> => {
  const bytes = await objects.get(logoObject(owner, hash))
  const size = bytes && readImageSize(bytes)
  if (!size || hashLogo(bytes) !== hash) return undefined
  const { format, width, height } = size
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><image width="${width}" height="${height}" href="data:image/${format};base64,${Buffer.from(bytes).toString('base64')}"/></svg>`
}
