import * as z from 'zod'
import { sha256 } from './secrets.ts'
import { fromText } from './settings/values.ts'

/** Name, mark, colour and help address that an operator gives the platform. */
export interface Brand {
  name: string
  /** SVG path of the mark, in a box of 24 × 24. */
  logo: string
  /** Colour as `#rrggbb`. Pages use shades of it that are readable on their backgrounds. */
  accent: string
  /** Address where people get help: `https:` or `mailto:`. */
  supportUrl?: string | undefined
  /** Page on which the operator tells about incidents and maintenance: `https:`. */
  statusUrl?: string | undefined
}

/** Three nodes and the links between them. */
const HUB =
  'M12 2a3 3 0 0 1 1.1 5.8v3.5l3.7 3a3 3 0 1 1-1.3 1.7L12 13.1l-3.5 2.9a3 3 0 1 1-1.3-1.7l3.7-3V7.8A3 3 0 0 1 12 2z'

export const DEFAULT_BRAND: Brand = { name: 'Agent Integration Platform', logo: HUB, accent: '#4f46e5' }

/** Names and marks go into HTML, JSON and SVG, so neither may contain a character with a meaning there. */
const brandSchema = z.strictObject(
  {
    name: z
      .string()
      .regex(/^[\p{L}\p{N}][\p{L}\p{M}\p{N} .·’+-]{0,39}$/u, 'use up to 40 letters, digits, spaces and . · ’ + -')
      .default(DEFAULT_BRAND.name),
    logo: z
      .string()
      .regex(
        /^[Mm][MmLlHhVvCcSsQqTtAaZzEe\d ,.+-]{1,599}$/,
        'use the path of an SVG in a box of 24 × 24, up to 600 characters',
      )
      .default(DEFAULT_BRAND.logo),
    accent: z
      .string()
      .regex(/^#[\da-f]{6}$/i, 'use a colour as #rrggbb')
      .default(DEFAULT_BRAND.accent),
    supportUrl: z
      .url({ protocol: /^(https|mailto)$/, error: 'use an https: or mailto: address' })
      .max(200)
      .transform((url) => new URL(url).href)
      .optional(),
    statusUrl: z
      .url({ protocol: /^https$/, error: 'use an https: address' })
      .max(200)
      .transform((url) => new URL(url).href)
      .optional(),
  },
  { error: 'use JSON with name, logo, accent, supportUrl or statusUrl' },
)

/** Schema of the setting, as JSON or as its text. */
export const brand = () =>
  z
    .preprocess(fromText, brandSchema)
    .meta({ value: '`{"name": …, "logo": …, "accent": …, "supportUrl": …, "statusUrl": …}`' })

type Channels = [red: number, green: number, blue: number]

const channels = (colour: string): Channels =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as Channels

const luminance = (colour: string): number => {
  const [red, green, blue] = channels(colour).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as Channels
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Contrast of two colours (WCAG 2.2, "contrast ratio"). */
export const contrast = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

/** Mixes two colours. @param share of the second one, from 0 to 1 */
const mix = (one: string, other: string, share: number): string => {
  const to = channels(other)
  const mixed = channels(one).map((value, index) => Math.round(value + ((to[index] ?? 0) - value) * share))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

/** A little above WCAG's 4.5:1, because the platform rounds colours to whole channels. */
const READABLE = 4.6

/** Colours of a scheme that the accent meets: backgrounds of pages and documentation, and the quietest text. */
const SCHEMES = {
  light: {
    towards: '#000000',
    tint: 0.1,
    paper: '#ffffff',
    backgrounds: ['#ffffff', '#f2f4f7', '#f5f5f7', '#fff4cc'],
    soft: '#57606a',
  },
  dark: {
    towards: '#ffffff',
    tint: 0.22,
    paper: '#161b22',
    backgrounds: ['#161b22', '#0d1117', '#1b1b1e', '#3a3312'],
    soft: '#9da7b3',
  },
} as const

const steps = Array.from({ length: 51 }, (_, step) => step / 50)

export interface Shades {
  /** Links, buttons and marks. */
  act: string
  onAct: string
  /** Background of what is selected. */
  actPaper: string
}

/** Derives the accent's shades for a scheme, each with a contrast of at least 4.5:1 to what it meets. */
export const shadesOf = (accent: string, scheme: keyof typeof SCHEMES): Shades => {
  const { towards, tint, paper, backgrounds, soft } = SCHEMES[scheme]
  const tinted = steps.map((step) => mix(paper, accent, tint * (1 - step)))
  const actPaper = tinted.find((colour) => contrast(soft, colour) >= READABLE) ?? paper
  const act =
    steps
      .map((step) => mix(accent, towards, step))
      .find((colour) => [...backgrounds, actPaper].every((one) => contrast(colour, one) >= READABLE)) ?? towards
  const onAct = ['#ffffff', '#0d1117'].sort((a, b) => contrast(b, act) - contrast(a, act))[0] ?? '#ffffff'
  return { act, onAct, actPaper }
}

/** Renders the style sheet with the accent's shades. It follows the style sheet of a page. */
export const brandStyle = ({ accent }: Brand): string => {
  const light = shadesOf(accent, 'light')
  const dark = shadesOf(accent, 'dark')
  const block = ({ act, onAct, actPaper }: Shades) => `{--act:${act};--on-act:${onAct};--act-paper:${actPaper}}`
  return [
    `:root${block(light)}`,
    `@media (prefers-color-scheme:dark){:root:not([data-scheme="light"])${block(dark)}}`,
    `:root[data-scheme="dark"]${block(dark)}`,
    '',
  ].join('\n')
}

/** Renders the mark on the accent, as icon of the pages. */
export const brandMark = ({ accent, logo }: Brand): string => {
  const ink = contrast('#ffffff', accent) >= 3 ? '#ffffff' : '#0d1117'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 36 36"><rect width="36" height="36" rx="9" fill="${accent}"/><path transform="translate(6 6)" fill="${ink}" d="${logo}"/></svg>\n`
}

/** Returns what pages need of the brand. The version is part of the addresses of its style sheet and mark. */
export const pageBrand = ({ brand: of }: { brand: Brand }) => ({
  name: of.name,
  supportUrl: of.supportUrl,
  version: sha256(JSON.stringify([of.accent, of.logo])).slice(0, 8),
})

/** Signature of e-mails. */
export const brandSignature = ({ name, supportUrl }: Brand): string => (supportUrl ? `${name}\n${supportUrl}` : name)
