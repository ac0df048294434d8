import type { Work } from '#shared/foundation/work/index.ts'
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
