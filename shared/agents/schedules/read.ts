import type { Deps } from '#shared/foundation/work/index.ts'
import { atLeast, type Member } from '#shared/identity/people/index.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { allItems } from '#shared/table/pages.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Occurrence, OccurrenceEntity, type Schedule, ScheduleEntity, schedulesOf } from './entity.ts'
import { nextTimes } from './next.ts'

/** Caller that reads or changes schedules: a person in the console, or an installation over the Integration API. */
export type Manager =
  | { type: 'user'; workspace_id: string; id: string; name: string; isAdmin: boolean }
  | { type: 'app'; workspace_id: string; id: string; name: string }

/** Returns a member as one who reads or changes schedules, with the rights of their role. */
export const personManager = (
  { id: workspace_id }: { id: string },
  { id, name }: { id: string; name: string },
  { role }: Pick<Member, 'role'>,
): Manager => ({ type: 'user', workspace_id, id, name, isAdmin: atLeast(role, 'admin') })

type Reading = Pick<Deps, 'table' | 'clock'>

/** Members see their own schedules, admins all but those in other people's conversations, and installations their own. */
export const isVisible = (to: Manager, { private_to, created_by, installation_id }: Schedule): boolean => {
  if (to.type === 'app') return private_to === undefined && installation_id === to.id
  if (private_to !== undefined) return private_to === to.id
  return to.isAdmin || created_by.id === to.id
}

/** @throws `not_found`, also for one that they may not see */
export const loadSchedule = async ({ table }: Reading, manager: Manager, id: string): Promise<Schedule> => {
  const schedule = await table.get(ScheduleEntity, { workspace_id: manager.workspace_id, id })
  if (!schedule || !isVisible(manager, schedule)) throw fail('not_found', { message: 'Schedule not found.' })
  return schedule
}

type At = Pick<QueryOptions, 'limit' | 'after'>

/** Lists schedules, newest first. A page may hold fewer than its limit. */
export const listSchedules = async (
  { table }: Reading,
  manager: Manager,
  page: At,
  filter: { installation_id?: string | undefined; status?: Schedule['status'] | undefined } = {},
): Promise<Page<Schedule>> => {
  const { items, next } =
    manager.type === 'app'
      ? await table.listed(ScheduleEntity, schedulesOf(manager.id), page)
      : await table.query(ScheduleEntity, { workspace_id: manager.workspace_id }, page)
  const matches = (one: Schedule): boolean =>
    isVisible(manager, one) &&
    (filter.installation_id === undefined || filter.installation_id === one.installation_id) &&
    (filter.status === undefined || filter.status === one.status)
  return { items: items.filter(matches), next }
}

/** Lists a schedule's occurrences, newest first. */
export const listOccurrences = ({ table }: Reading, { id }: Schedule, page: At): Promise<Page<Occurrence>> =>
  table.query(OccurrenceEntity, { schedule_id: id }, page)

/** Times of one schedule that a calendar lists. */
const CALENDAR_TIMES = 50
const PAGE = 100

/** Lists what falls due in the next days. */
export const readCalendar = async (deps: Reading, manager: Manager, days: number) => {
  const from = deps.clock.now()
  const to = from + days * DAY
  const schedules = await allItems(async (after) => listSchedules(deps, manager, { limit: PAGE, after }))
  const items = schedules
    .filter(({ status }) => status === 'active')
    .flatMap((schedule) => {
      const times = nextTimes(schedule, from, CALENDAR_TIMES + 1, to)
      if (times.length === 0) return []
      const shown = times.slice(0, CALENDAR_TIMES)
      return [
        { schedule_id: schedule.id, name: schedule.name, times: shown.map(iso), has_more: times.length > shown.length },
      ]
    })
  return { from: iso(from), to: iso(to), items }
}
