import { InstallationEntity } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { RunEntity } from '#shared/work/runs/index.ts'
import type { Occurrence, Schedule } from './entity.ts'
import { nextTimes } from './next.ts'
import type { ScheduleView } from './schemas.ts'

type Reading = Pick<Deps, 'table' | 'clock'>

/** Times that the answers show. */
export const SHOWN_TIMES = 5

/** Presents a schedule with the name of its agent and the state of its latest run. */
export const presentSchedule = async ({ table, clock }: Reading, schedule: Schedule): Promise<ScheduleView> => {
  const { workspace_id, installation_id, status, next_at, last } = schedule
  const [installation, run] = await Promise.all([
    table.get(InstallationEntity, { workspace_id, id: installation_id }),
    last?.run_id === undefined ? undefined : table.get(RunEntity, { installation_id, id: last.run_id }),
  ])
  const isActive = status === 'active'
  return {
    id: schedule.id,
    installation_id,
    agent: { name: installation?.app_name ?? '' },
    name: schedule.name,
    start: JSON.parse(schedule.start) as ScheduleView['start'],
    when: schedule.when,
    overlap: schedule.overlap,
    missed: schedule.missed,
    status,
    next_at: isActive && next_at !== undefined ? iso(next_at) : null,
    next_times: isActive ? nextTimes(schedule, clock.now(), SHOWN_TIMES).map(iso) : [],
    last: last
      ? {
          run_id: last.run_id ?? null,
          status: last.status === 'started' ? (run?.status ?? null) : last.status,
          at: iso(last.at),
          reason: last.reason ?? null,
        }
      : null,
    failures: schedule.failures,
    paused_reason: schedule.paused_reason ?? null,
    last_error: schedule.last_error ?? null,
    created_by: schedule.created_by,
    is_private: schedule.private_to !== undefined,
    ends_at: schedule.ends_at === undefined ? null : iso(schedule.ends_at),
    proposal: schedule.proposal ?? null,
    created_at: iso(schedule.created_at),
  }
}

/** Presents an occurrence in a schedule's history. */
export const presentOccurrence = async (
  { table }: Reading,
  { id, installation_id, at, status, event, run_id, reason, error }: Occurrence,
) => {
  const run = run_id === undefined ? undefined : await table.get(RunEntity, { installation_id, id: run_id })
  return {
    id,
    at: iso(at),
    status,
    event: event ?? null,
    run: run_id === undefined ? null : { id: run_id, status: run?.status ?? null },
    reason: reason ?? null,
    error: error ?? null,
  }
}
