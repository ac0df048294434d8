import * as z from 'zod'
import { TOOL_NAMES } from './names.ts'

/** Denied platform tools, without duplicates. Rejects unknown names. */
export const deniedTools = () =>
  z
    .array(z.enum(TOOL_NAMES))
    .max(TOOL_NAMES.length)
    .transform((tools) => [...new Set(tools)])
