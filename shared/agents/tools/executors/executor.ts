import type { App } from '#shared/catalogue/apps/index.ts'
import type { Work, WorkWrite } from '#shared/foundation/work/index.ts'
import type { PlatformError } from '#shared/kernel/errors.ts'
import type { Run } from '#shared/work/runs/index.ts'
import type { CallingAgent } from '../../calls/index.ts'
import type { ToolCaller } from '../permission.ts'

/** Caller and run of a tool call. */
export interface ToolCallContext extends ToolCaller {
  app: App
  /** The run that the call belongs to. It was active when it was read. */
  run: Run | undefined
  /** True when the token is that run's own callback token. */
  bound: boolean
  inPlace?: CallingAgent['inPlace']
}

/** Result of a tool that needs no approval, and the changes to commit with it. */
export interface ToolResult {
  result: Record<string, unknown>
  /** Committed with the run's step, or by themselves without a run. */
  writes: WorkWrite[]
  /** Called when that commit was refused. */
  refused?(error: PlatformError): Promise<void>
}

/**
 * Executes a tool with validated arguments. Anything it commits before returning isn't the call's answer. It must
 * commit `aside`, in a way that a repeat with the same Idempotency-Key finds (`work.id` returns the same ids again). It
 * runs again when a concurrent request changed the task that it writes.
 */
export type Executor = (work: Work, scene: ToolCallContext, args: Record<string, unknown>) => Promise<ToolResult>
