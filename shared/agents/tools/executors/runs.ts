import { iso } from '#shared/kernel/clock.ts'
import { durationOf, type RunStatus, listRuns as runsOf } from '#shared/work/runs/index.ts'
import type { Executor } from './executor.ts'

export const listRuns: Executor = async (work, { installation }, args) => {
  const { status, limit } = args as { status?: RunStatus; limit: number }
  const { items } = await runsOf(work, installation.id, status, { limit })
  return {
    result: {
      runs: items.map((run) => ({
        id: run.id,
        status: run.status,
        trigger: run.trigger,
        error_code: run.error_code ?? null,
        created_at: iso(run.created_at),
        duration_ms: durationOf(run) ?? null,
      })),
    },
    writes: [],
  }
}
