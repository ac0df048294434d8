import * as z from 'zod'
import type { Work } from '#shared/foundation/work/index.ts'
import { check } from '#shared/http/parse.ts'
import type { McpCaller } from './caller.ts'
import type { Outbox } from './outbox.ts'
import type { Lane } from './protocol.ts'
import type { Describe } from './results.ts'

/** A request of a client. */
export interface RequestContext {
  work: Work
  caller: McpCaller
  lane: Lane
}

/** A client's call of a tool. */
export interface CallContext extends RequestContext {
  headers: Record<string, string>
  outbox: Outbox
  describe: Describe
}

export const checkArguments = (schema: z.ZodType<Record<string, unknown>>, value: unknown): Record<string, unknown> =>
  check(z.object({ arguments: schema }), { arguments: value }, 'The tool’s arguments').arguments
