import * as z from 'zod'
import { NAMES_LOOKED_AT } from '#shared/domain/roster/find.ts'

export const trueOrFalse = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description })

export const startsWith = (what: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        `How the ${what} begins, whatever its case. Then in the order of the alphabet, and \`total\` counts the first ` +
        `${NAMES_LOOKED_AT.toLocaleString('en')} such names.`,
    })
