import * as z from 'zod'

// Each schema accepts text (command line, environment) and JSON (cdk.json).

/** JSON text as its value. Anything else stays as it is, for the schema to refuse. */
export const fromText = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

export const flag = () =>
  z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
      error: 'use true or false',
    })
    .meta({ value: 'true or false' })

export const whole = (least: number, most: number) =>
  z.coerce
    .number({ error: `use a whole number from ${least} to ${most}` })
    .int()
    .min(least)
    .max(most)
    .meta({ value: `${least} to ${most}` })

export const share = () =>
  z.coerce.number({ error: 'use a number from 0 to 1' }).min(0).max(1).meta({ value: '0 to 1' })

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z
    .enum(values, { error: `use ${[values.slice(0, -1).join(', '), values.at(-1)].filter(Boolean).join(' or ')}` })
    .meta({ value: values.join(', ') })

/** Absolute URL without a trailing slash. Paths are appended to it. */
export const address = () =>
  z
    .url({ protocol: /^https?$/, error: 'use an absolute URL' })
    .transform((url) => url.replace(/\/+$/, ''))
    .meta({ value: 'a URL' })

export const secretArn = () =>
  z
    .string()
    .regex(/^arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@-]+$/, { error: 'use the ARN of a secret' })
    .meta({ value: 'an ARN' })

/** List of seconds, separated by commas in text. */
export const seconds = (most: number, entries: number) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',').map(Number) : value),
      z.array(z.number().int().min(0).max(most)).min(1).max(entries),
    )
    .meta({ value: `up to ${entries} numbers, 0 to ${most}` })

/** Schemes that a browser or the system handles itself, so that no program on the person's machine can own them. */
const TAKEN = [
  'http',
  'https',
  'javascript',
  'data',
  'file',
  'blob',
  'about',
  'vbscript',
  'view-source',
  'ws',
  'wss',
  'ftp',
]

/** List of URL schemes, separated by commas in text. */
export const schemes = () =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',').filter(Boolean) : value),
      z
        .array(z.string().regex(/^[a-z][a-z0-9+.-]{0,40}$/, 'use schemes in lower case'))
        .max(20)
        .refine((list) => !list.some((scheme) => TAKEN.includes(scheme)), 'use schemes that only a program handles'),
    )
    .meta({ value: 'up to 20 schemes' })
