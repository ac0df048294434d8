import type { Deps, WorkerWork } from '#shared/foundation/work/index.ts'
import { type Run, runMessage } from '#shared/work/runs/index.ts'
import { InlineRunEntity } from './entity.ts'

/**
 * Wakes a worker to start or continue a run of an inline agent. Repeats are harmless, since the records say what is
 * left to do.
 */
export const wakeInlineWorker = ({ queues }: Pick<WorkerWork, 'queues'>, run: Run): Promise<void> =>
  queues.send('inline-runs', [runMessage(run)])

/** Returns whether an inline worker has started this run. */
export const hasInlineRun = async ({ table }: Pick<Deps, 'table'>, run: Run): Promise<boolean> =>
  (await table.get(InlineRunEntity, { run_id: run.id })) !== undefined
