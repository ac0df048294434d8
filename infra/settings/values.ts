import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import * as z from 'zod'

// Values on the command line (`-c key=value`) arrive as text, values in cdk.json as JSON. Both are accepted.

const fromText = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)

/** @param value an example of the value, for the list of settings */
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

export const text = (pattern: RegExp, message: string, value = 'text') =>
  z.string().regex(pattern, message).meta({ value })

const logDays = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
)

/** Number of days that CloudWatch Logs accepts as a retention period. */
export const logPeriod = z.coerce
  .number()
  .refine((days) => logDays.includes(days), `use one of the periods that CloudWatch Logs has: ${logDays.join(', ')}`)
  .meta({ value: 'days: 1, 3, 5, 7, 14, 30, 60, 90, …' })
