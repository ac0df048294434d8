import { InlineRunEntity } from '../../entities/inline.ts'
import type { Run } from '../../entities/runs.ts'
import { wakeUp } from '../../events/queues.ts'
import type { Deps, WorkerWork } from '../deps.ts'

/** Wakes a worker that begins a run of an inline agent, or goes on with it. Any number of times: the record says what is to do. */
export const handOver = ({ queues }: Pick<WorkerWork, 'queues'>, run: Run): Promise<void> =>
  queues.send('inline-runs', [{ body: wakeUp('run.created', run), group: run.installation_id }])

/** Has a worker of inline agents begun this run? */
export const isInline = async ({ table }: Pick<Deps, 'table'>, run: Run): Promise<boolean> =>
  (await table.get(InlineRunEntity, { run_id: run.id })) !== undefined
