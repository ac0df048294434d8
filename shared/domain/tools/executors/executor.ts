import type { App } from '../../../entities/apps.ts'
import type { Run } from '../../../entities/runs.ts'
import type { PlatformError } from '../../../kernel/errors.ts'
import type { Write } from '../../../table/entity.ts'
import type { Work } from '../../deps.ts'
import type { ToolCaller } from '../permission.ts'

/** By whom, and inside which run, a tool is called. */
export interface Scene extends ToolCaller {
  app: App
  /** The run that the call belongs to; it has begun and was active when it was read. */
  run: Run | undefined
  /** The token is that run's own callback token. */
  bound: boolean
}

/** What a tool that needs no approval did: its result, and the changes that belong to it. */
export interface Executed {
  result: Record<string, unknown>
  /** Committed with the run's step, or alone without a run. */
  writes: Write[]
  /** Told when that commit was refused. */
  refused?(error: PlatformError): Promise<void>
}

/**
 * Executes a tool with arguments that its schema has checked. What one commits before it returns is not the call's answer:
 * it does so `aside`, and so that a repeat under the same Idempotency-Key finds it (`work.id` gives the same ids again).
 * It is executed anew when somebody else changed the task that it writes.
 */
export type Executor = (work: Work, scene: Scene, args: Record<string, unknown>) => Promise<Executed>
