import * as z from 'zod'
import {
  CalendarSchema,
  ChangeSchedule,
  changeSchedule,
  createSchedule,
  deleteSchedule,
  listOccurrences,
  listProposals,
  listSchedules,
  loadSchedule,
  type Manager,
  NewPersonSchedule,
  OccurrenceSchema,
  PreviewSchedule,
  PreviewSchema,
  ProposalsSchema,
  pauseSchedule,
  personManager,
  presentOccurrence,
  presentSchedule,
  previewSchedule,
  RunSchedule,
  readCalendar,
  resumeSchedule,
  runScheduleNow,
  SCHEDULE_STATUSES,
  ScheduleSchema,
} from '#shared/agents/schedules/index.ts'
import { checkEvent, loadTriedEvent } from '#shared/delivery/triggers/index.ts'
import type { ConsoleCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { RunSchema } from '#shared/work/runs/index.ts'

const common = { group: 'console', caller: 'console' } as const
const scheduleId = { id: 'schedule' } as const

/** Errors of endpoints that check what a schedule starts. */
const START_ERRORS = [
  'conflict',
  'forbidden',
  'app_suspended',
  'installation_suspended',
  'access_withdrawn',
  'insufficient_scope',
  'tool_not_offered',
  'invalid_arguments',
  'payload_too_large',
] as const

const managerOf = ({ workspace, user, member }: ConsoleCaller): Manager => personManager(workspace, user, member)

const list = defineEndpoint({
  ...common,
  id: 'console.schedules.list',
  method: 'GET',
  path: '/console/schedules',
  summary: 'List schedules, newest first',
  description:
    'Members see their own schedules, and admins those of the whole workspace, except schedules that write in another ' +
    'person’s conversation. A page can have fewer schedules than `limit`, or none, while `has_more` is true.',
  query: () =>
    pageQuery({
      installation_id: z.string().max(64).optional().meta({ description: 'Only schedules of this agent.' }),
      status: z.enum(SCHEDULE_STATUSES).optional().meta({ description: 'Only schedules with this status.' }),
    }),
  list: {
    read: ({ work, caller, query: { installation_id, status } }, page) =>
      listSchedules(work, managerOf(caller), page, { installation_id, status }),
    present: (schedule, { work }) => presentSchedule(work, schedule),
  },
  response: ScheduleSchema,
})

const create = defineEndpoint({
  ...common,
  id: 'console.schedules.create',
  method: 'POST',
  path: '/console/schedules',
  summary: 'Create a schedule',
  description:
    'Starts runs of an agent for you: at the times of a cron expression in a time zone, after each `every`, or once `at` a ' +
    'time. Check `next_times` in the response. An agent can have 100 active schedules, and a ' +
    'workspace 1,000.',
  status: 201,
  body: NewPersonSchedule,
  response: ScheduleSchema,
  errors: [...START_ERRORS, 'not_found'],
  needs: ['objects:read'],
  handler: ({ work, caller, body }) => createSchedule(work, managerOf(caller), body, checkEvent),
})

const preview = defineEndpoint({
  ...common,
  id: 'console.schedules.preview',
  method: 'POST',
  path: '/console/schedules/preview',
  summary: 'Get the next five times of a schedule without saving it',
  body: PreviewSchedule,
  response: PreviewSchema,
  handler: async ({ work, body }) => previewSchedule(work, body),
})

const proposals = defineEndpoint({
  ...common,
  id: 'console.schedules.listProposals',
  method: 'GET',
  path: '/console/schedules/proposals',
  summary: 'List the schedules that an agent proposes',
  description:
    'Those of the installed version’s manifest. Each one is off until a person creates it with its `proposal`: it then acts for ' +
    'that person. An expression without a time zone means yours.',
  query: () =>
    z.strictObject({ installation_id: z.string().max(64).meta({ description: 'The agent.', example: 'ins_x' }) }),
  response: ProposalsSchema,
  errors: ['not_found'],
  needs: ['objects:read'],
  handler: ({ work, caller, query }) => listProposals(work, managerOf(caller), query.installation_id),
})

const calendar = defineEndpoint({
  ...common,
  id: 'console.schedules.calendar',
  method: 'GET',
  path: '/console/schedules/calendar',
  summary: 'Get what falls due in the next days',
  description: 'Lists up to 50 times of each active schedule that you see.',
  query: () =>
    z.strictObject({
      days: z.coerce.number().int().min(1).max(31).default(7).meta({ description: 'Days from now on.' }),
    }),
  response: CalendarSchema,
  handler: ({ work, caller, query }) => readCalendar(work, managerOf(caller), query.days),
})

const read = defineEndpoint({
  ...common,
  id: 'console.schedules.read',
  method: 'GET',
  path: '/console/schedules/{id}',
  params: scheduleId,
  summary: 'Get a schedule',
  response: ScheduleSchema,
  handler: async ({ work, caller, params }) =>
    presentSchedule(work, await loadSchedule(work, managerOf(caller), params.id)),
})

const history = defineEndpoint({
  ...common,
  id: 'console.schedules.listOccurrences',
  method: 'GET',
  path: '/console/schedules/{id}/occurrences',
  params: scheduleId,
  summary: 'List what fell due of a schedule, newest first',
  description: 'Each occurrence has its run, or the reason why there is none.',
  list: {
    load: ({ work, caller, params }) => loadSchedule(work, managerOf(caller), params.id),
    read: ({ work }, page, schedule) => listOccurrences(work, schedule, page),
    present: (occurrence, { work }) => presentOccurrence(work, occurrence),
  },
  response: OccurrenceSchema,
})

const change = defineEndpoint({
  ...common,
  id: 'console.schedules.change',
  method: 'PATCH',
  path: '/console/schedules/{id}',
  params: scheduleId,
  summary: 'Change a schedule',
  description: 'Fields that you leave out don’t change. Another `when` counts from now on.',
  body: ChangeSchedule,
  response: ScheduleSchema,
  errors: [...START_ERRORS],
  needs: ['objects:read'],
  handler: ({ work, caller, params, body }) => changeSchedule(work, managerOf(caller), params.id, body, checkEvent),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.schedules.delete',
  method: 'DELETE',
  path: '/console/schedules/{id}',
  params: scheduleId,
  summary: 'Delete a schedule',
  description: 'Its runs stay, and those that are active continue.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await deleteSchedule(work, managerOf(caller), params.id)
    return undefined
  },
})

const run = defineEndpoint({
  ...common,
  id: 'console.schedules.run',
  method: 'POST',
  path: '/console/schedules/{id}/run',
  params: scheduleId,
  summary: 'Start a run of a schedule now',
  description: 'The run is yours, and starts whatever the schedule’s `overlap` is. Its times don’t change.',
  status: 201,
  body: RunSchedule,
  response: RunSchema,
  errors: [...START_ERRORS, 'too_many_active_runs', 'budget_exceeded'],
  needs: ['objects:read', 'objects:write', 'queue:dispatch'],
  handler: ({ work, caller, params, body }) => runScheduleNow(work, managerOf(caller), params.id, body, loadTriedEvent),
})

const pause = defineEndpoint({
  ...common,
  id: 'console.schedules.pause',
  method: 'POST',
  path: '/console/schedules/{id}/pause',
  params: scheduleId,
  summary: 'Pause a schedule',
  description: 'It starts no runs until it is resumed. A run that is active continues.',
  response: ScheduleSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => pauseSchedule(work, managerOf(caller), params.id),
})

const resume = defineEndpoint({
  ...common,
  id: 'console.schedules.resume',
  method: 'POST',
  path: '/console/schedules/{id}/resume',
  params: scheduleId,
  summary: 'Resume a paused schedule',
  description:
    'It falls due from now on. What would have fallen due meanwhile makes no run. If its creator is no longer a member, ' +
    'it acts for you from now on.',
  response: ScheduleSchema,
  errors: ['conflict', 'forbidden', 'app_suspended', 'installation_suspended', 'access_withdrawn'],
  handler: ({ work, caller, params }) => resumeSchedule(work, managerOf(caller), params.id),
})

export const endpoints = [list, create, preview, proposals, calendar, read, history, change, remove, run, pause, resume]
