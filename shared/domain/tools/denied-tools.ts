import * as z from 'zod'
import { TOOLS, type ToolName } from './catalogue.ts'

const NAMES = Object.keys(TOOLS) as [ToolName, ...ToolName[]]

/** Platform tools that are banned, each once; an unknown one is refused. */
export const deniedTools = () =>
  z
    .array(z.enum(NAMES))
    .max(NAMES.length)
    .transform((tools) => [...new Set(tools)])
