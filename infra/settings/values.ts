import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import * as z from 'zod'

// What stands on the command line (`-c key=value`) arrives as text, what stands in cdk.json as JSON; both are taken.

export const flag = z
  .union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })], { error: 'use true or false' })
  .meta({ value: 'true or false' })

const fromText = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)

/** @param value what it looks like, for the list of settings */
export const json = <T extends z.ZodType>(schema: T, value: string) =>
  z
    .preprocess((given, context) => {
      try {
        return fromText(given)
      } catch {
        context.issues.push({ code: 'custom', message: 'is not JSON', input: given })
        return z.NEVER
      }
    }, schema)
    .meta({ value })

export const whole = (least: number, most: number) =>
  z.coerce
    .number({ error: `use a whole number from ${least} to ${most}` })
    .int()
    .min(least)
    .max(most)
    .meta({ value: `${least} to ${most}` })

export const text = (pattern: RegExp, message: string, value = 'text') =>
  z.string().regex(pattern, message).meta({ value })

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z
    .enum(values, { error: `use ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` })
    .meta({ value: values.join(', ') })

/** An absolute address without a trailing slash, to which paths are appended. */
export const address = z
  .url({ protocol: /^https?$/, error: 'use an absolute address' })
  .transform((url) => url.replace(/\/+$/, ''))
  .meta({ value: 'an address' })

/** Numbers in a list, separated by commas on the command line. */
export const seconds = (most: number, entries: number) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',').map(Number) : value),
      z.array(z.number().int().min(0).max(most)).min(1).max(entries),
    )
    .meta({ value: `up to ${entries} numbers, 0 to ${most}` })

const logDays = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
)

/** How long CloudWatch Logs can keep what is written. */
export const logPeriod = z.coerce
  .number()
  .refine((days) => logDays.includes(days), `use one of the periods that CloudWatch Logs has: ${logDays.join(', ')}`)
  .meta({ value: 'days: 1, 3, 5, 7, 14, 30, 60, 90, …' })
