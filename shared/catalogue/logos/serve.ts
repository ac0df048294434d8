import { createHash } from 'node:crypto'
import type { Deps } from '#shared/foundation/work/index.ts'
import { readImageSize } from '#shared/kernel/image-size.ts'
import { type LogoFile, logoObject, type StoredFile } from './path.ts'

/**
 * Renders a logo as an SVG of the platform's own: an avatar, or a frame around the stored image. A frame is text, which
 * every gateway passes unchanged, and an image in it can't be taken for anything else. Returns undefined if the image doesn't
 * exist, or isn't the one that its name says.
 */
export const renderLogo = async ({ objects }: Pick<Deps, 'objects'>, file: LogoFile): Promise<string | undefined> => {
  if ('letter' in file) return avatar(file)
  const image = await loadImage(objects, file)
  return (
    image && svg(64, 64, `<image width="64" height="64" preserveAspectRatio="xMidYMid slice" href="${image.href}"/>`)
  )
}

/** Renders a screenshot as an SVG around the stored image, for the same reasons and with the same outcome as a logo. */
export const renderScreenshot = async (
  { objects }: Pick<Deps, 'objects'>,
  file: StoredFile,
): Promise<string | undefined> => {
  const image = await loadImage(objects, file)
  if (!image) return undefined
  const { width, height, href } = image
  return svg(width, height, `<image width="${width}" height="${height}" href="${href}"/>`)
}

/** Loads an image as an address that has its content. Undefined if it doesn't exist, or isn't the one that its name says. */
const loadImage = async (objects: Deps['objects'], { owner, hash }: StoredFile) => {
  const bytes = await objects.get(logoObject(owner, hash))
  const size = bytes && readImageSize(bytes)
  if (!size || hashLogo(bytes) !== hash) return undefined
  return { ...size, href: `data:image/${size.format};base64,${Buffer.from(bytes).toString('base64')}` }
}

export const hashLogo = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const avatar = ({ hue, letter }: { hue: number; letter: string }): string =>
  svg(
    64,
    64,
    `<rect width="64" height="64" fill="hsl(${hue} 45% 30%)"/>` +
      '<text x="32" y="33" text-anchor="middle" dominant-baseline="central" font-family="system-ui,sans-serif" ' +
      `font-size="32" font-weight="600" fill="#fff">${letter}</text>`,
  )

const svg = (width: number, height: number, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${content}</svg>`
