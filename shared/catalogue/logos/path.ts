import * as z from 'zod'
import { sha256 } from '#shared/kernel/secrets.ts'
import { type FetchedLogo, PLATFORM_LOGO } from './entity.ts'

/** Path of the endpoint that serves logos, before the file. */
const LOGOS = '/console/logos/'

/** Number of colours of generated avatars. */
const COLOURS = 12

interface Named {
  id: string
  name: string
  logo_url?: string | undefined
  logo?: FetchedLogo | undefined
}

/**
 * Returns the path of the image that people see: the one that was fetched from the logo's present address, or an avatar.
 * Both paths change with what they show, so that browsers may keep them for ever.
 */
export const logoPath = ({ id, name, logo_url, logo }: Named): string =>
  `${LOGOS}${logo !== undefined && logo.url === logo_url ? `${id}.${logo.hash}` : avatarOf(id, name)}`

/** Returns the path of the logo of the platform's own agent. */
export const platformLogoPath = (identity: Omit<Named, 'id'>): string => logoPath({ ...identity, id: PLATFORM_LOGO })

/** Schema of the field that carries {@link logoPath}. */
export const logoPathField = () =>
  z.string().meta({
    description:
      'Path of the logo on the platform, relative to its base URL: the image that the platform fetched from `logo_url` and ' +
      'checked, or a generated avatar. Use it rather than `logo_url`.',
    example: '/console/logos/avatar-7-53',
  })

/** Names an avatar by its colour, which follows from the id, and by the first letter or digit of the name. */
const avatarOf = (id: string, name: string): string => {
  const letter = name.match(/[\p{L}\p{N}]/u)?.[0]?.toUpperCase() ?? '?'
  const colour = Number.parseInt(sha256(id).slice(0, 6), 16) % COLOURS
  return `avatar-${colour}-${(letter.codePointAt(0) ?? 0).toString(16)}`
}

/** Parts of a stored image's name. */
export interface StoredFile {
  owner: string
  hash: string
}

/** Parts of a served image's name. */
export type LogoFile = StoredFile | { hue: number; letter: string }

/** Parses the name of a served image. Returns undefined for any name that {@link logoPath} doesn't return. */
export const parseLogoFile = (file: string): LogoFile | undefined => {
  const stored = /^(app_[0-9a-z]{26}|platform)\.([0-9a-f]{64})$/.exec(file)
  if (stored) return { owner: stored[1] ?? '', hash: stored[2] ?? '' }
  const avatar = /^avatar-(\d{1,2})-([0-9a-f]{1,6})$/.exec(file)
  const [colour, point] = [Number(avatar?.[1]), Number.parseInt(avatar?.[2] ?? '', 16)]
  if (!avatar || colour >= COLOURS || point > 0x10ffff) return undefined
  const letter = String.fromCodePoint(point)
  return /^[\p{L}\p{N}?]$/u.test(letter) ? { hue: (colour * 360) / COLOURS, letter } : undefined
}

/** Returns the path of an image of an app's listing. It always shows the same image. */
export const screenshotPath = (appId: string, hash: string): string => `/console/screenshots/${appId}.${hash}`

/** Parses the name of a served screenshot. Returns undefined for any name that {@link screenshotPath} doesn't return. */
export const parseScreenshotFile = (file: string): StoredFile | undefined => {
  const parsed = parseLogoFile(file)
  return parsed && 'hash' in parsed && parsed.owner !== PLATFORM_LOGO ? parsed : undefined
}

/** Returns the object that stores a fetched logo. Each owner has objects of its own, so that they can be deleted. */
export const logoObject = (owner: string, hash: string): string => `logos/${owner}/${hash}`
