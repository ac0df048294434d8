import { createHash } from 'node:crypto'
import type { Deps } from '#shared/foundation/work/index.ts'
import { readImageSize } from '#shared/kernel/image-size.ts'
import { type LogoFile, logoObject } from './path.ts'

/**
 * Renders a logo as an SVG of the platform's own: an avatar, or a frame around the stored image. A frame is text, which
 * every gateway passes unchanged, and an image in it can't be taken for anything else. Returns undefined if the image doesn't
 * exist, or isn't the one that its name says.
 */
export const renderLogo = async ({ objects }: Pick<Deps, 'objects'>, file: LogoFile): Promise<string | undefined> => {
  if ('letter' in file) return avatar(file)
  const bytes = await objects.get(logoObject(file.owner, file.hash))
  const format = bytes && readImageSize(bytes)?.format
  if (!format || hashLogo(bytes) !== file.hash) return undefined
  return svg(
    `<image width="64" height="64" preserveAspectRatio="xMidYMid slice" href="data:image/${format};base64,${Buffer.from(bytes).toString('base64')}"/>`,
  )
}

export const hashLogo = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const avatar = ({ hue, letter }: { hue: number; letter: string }): string =>
  svg(
    `<rect width="64" height="64" fill="hsl(${hue} 45% 30%)"/>` +
      '<text x="32" y="33" text-anchor="middle" dominant-baseline="central" font-family="system-ui,sans-serif" ' +
      `font-size="32" font-weight="600" fill="#fff">${letter}</text>`,
  )

const svg = (content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64">${content}</svg>`
