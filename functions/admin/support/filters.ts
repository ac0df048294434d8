import * as z from 'zod'
import { NAMES_LOOKED_AT } from '#shared/staff/roster/index.ts'

export const booleanFilter = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description })

export const prefixFilter = (what: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        `Beginning of the ${what}, ignoring case. The list is then sorted alphabetically, and \`total\` counts up to the ` +
        `first ${NAMES_LOOKED_AT.toLocaleString('en')} matching names.`,
    })
