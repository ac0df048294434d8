import * as z from 'zod'
import {
  ChangeSchedule,
  changeSchedule,
  createSchedule,
  deleteSchedule,
  listOccurrences,
  listSchedules,
  loadSchedule,
  type Manager,
  NewSchedule,
  OccurrenceSchema,
  PreviewSchedule,
  PreviewSchema,
  pauseSchedule,
  presentOccurrence,
  presentSchedule,
  previewSchedule,
  RunSchedule,
  resumeSchedule,
  runScheduleNow,
  SCHEDULE_STATUSES,
  ScheduleSchema,
} from '#shared/agents/schedules/index.ts'
import { checkEvent, loadTriedEvent } from '#shared/delivery/triggers/index.ts'
import type { IntegrationCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { RunSchema } from '#shared/work/runs/index.ts'

const reading = { group: 'api', caller: 'integration', scope: 'runs:read' } as const
const writing = { group: 'api', caller: 'integration', scope: 'runs:write' } as const
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

const managerOf = ({ workspace, installation }: IntegrationCaller): Manager => ({
  type: 'app',
  workspace_id: workspace.id,
  id: installation.id,
  name: installation.app_name,
})

const list = defineEndpoint({
  ...reading,
  id: 'api.schedules.list',
  method: 'GET',
  path: '/api/v1/schedules',
  summary: 'List the installation’s schedules, newest first',
  description:
    'Lists the installation’s schedules, also those of people, except schedules that write in a person’s conversation. A page can have fewer schedules than `limit`, or none, while `has_more` is true.',
  query: () =>
    pageQuery({
      status: z.enum(SCHEDULE_STATUSES).optional().meta({ description: 'Only schedules with this status.' }),
    }),
  list: {
    read: ({ work, caller, query: { status } }, page) => listSchedules(work, managerOf(caller), page, { status }),
    present: (schedule, { work }) => presentSchedule(work, schedule),
  },
  response: ScheduleSchema,
})

const create = defineEndpoint({
  ...writing,
  id: 'api.schedules.create',
  method: 'POST',
  path: '/api/v1/schedules',
  summary: 'Create a schedule',
  description:
    'Starts runs of the installation: at the times of a cron expression in a time zone, after each `every`, or once `at` a ' +
    'time. Check `next_times` in the response. An agent can have 100 active schedules, and a ' +
    'workspace 1,000.',
  status: 201,
  body: NewSchedule,
  response: ScheduleSchema,
  errors: [...START_ERRORS, 'not_found'],
  needs: ['objects:read'],
  handler: ({ work, caller, body }) =>
    createSchedule(work, managerOf(caller), { ...body, installation_id: caller.installation.id }, checkEvent),
})

const preview = defineEndpoint({
  ...reading,
  id: 'api.schedules.preview',
  method: 'POST',
  path: '/api/v1/schedules/preview',
  summary: 'Get the next five times of a schedule without saving it',
  body: PreviewSchedule,
  response: PreviewSchema,
  handler: async ({ work, body }) => previewSchedule(work, body),
})

const read = defineEndpoint({
  ...reading,
  id: 'api.schedules.read',
  method: 'GET',
  path: '/api/v1/schedules/{id}',
  params: scheduleId,
  summary: 'Get a schedule',
  response: ScheduleSchema,
  handler: async ({ work, caller, params }) =>
    presentSchedule(work, await loadSchedule(work, managerOf(caller), params.id)),
})

const history = defineEndpoint({
  ...reading,
  id: 'api.schedules.listOccurrences',
  method: 'GET',
  path: '/api/v1/schedules/{id}/occurrences',
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
  ...writing,
  id: 'api.schedules.change',
  method: 'PATCH',
  path: '/api/v1/schedules/{id}',
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
  ...writing,
  id: 'api.schedules.delete',
  method: 'DELETE',
  path: '/api/v1/schedules/{id}',
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
  ...writing,
  id: 'api.schedules.run',
  method: 'POST',
  path: '/api/v1/schedules/{id}/run',
  params: scheduleId,
  summary: 'Start a run of a schedule now',
  description: 'The run starts whatever the schedule’s `overlap` is. Its times don’t change.',
  status: 201,
  body: RunSchedule,
  response: RunSchema,
  errors: [...START_ERRORS, 'too_many_active_runs', 'budget_exceeded'],
  needs: ['objects:read', 'objects:write', 'queue:dispatch'],
  handler: ({ work, caller, params, body }) => runScheduleNow(work, managerOf(caller), params.id, body, loadTriedEvent),
})

const pause = defineEndpoint({
  ...writing,
  id: 'api.schedules.pause',
  method: 'POST',
  path: '/api/v1/schedules/{id}/pause',
  params: scheduleId,
  summary: 'Pause a schedule',
  description: 'It starts no runs until it is resumed. A run that is active continues.',
  response: ScheduleSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => pauseSchedule(work, managerOf(caller), params.id),
})

const resume = defineEndpoint({
  ...writing,
  id: 'api.schedules.resume',
  method: 'POST',
  path: '/api/v1/schedules/{id}/resume',
  params: scheduleId,
  summary: 'Resume a paused schedule',
  description:
    'It falls due from now on. What would have fallen due meanwhile makes no run. If the person who created it is no longer a ' +
    'member, it belongs to the installation.',
  response: ScheduleSchema,
  errors: ['conflict', 'forbidden', 'app_suspended', 'installation_suspended', 'access_withdrawn'],
  handler: ({ work, caller, params }) => resumeSchedule(work, managerOf(caller), params.id),
})

export const endpoints = [list, create, preview, read, history, change, remove, run, pause, resume]
