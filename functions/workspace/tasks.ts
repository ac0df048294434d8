import * as z from 'zod'
import { askQuestion, reportProgress, reportResult, setStatus } from '#shared/domain/tasks/by-agent.ts'
import { presentTask } from '#shared/domain/tasks/present.ts'
import { listTasks, readAsAgent } from '#shared/domain/tasks/read.ts'
import {
  AskQuestion,
  ReportProgress,
  ReportResult,
  SetStatus,
  TaskSchema,
  TaskWithConversationSchema,
} from '#shared/domain/tasks/schemas.ts'
import { TASK_STATUSES } from '#shared/entities/tasks.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

/** Room for 1 MiB of output however it is escaped; the exact limit is counted on the value. */
const REPORT_BODY = 4 * 1_024 * 1_024

const list = defineEndpoint({
  id: 'api.tasks.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/tasks',
  caller: 'integration',
  scope: 'tasks:read',
  summary: 'List the tasks assigned to the agent, newest first',
  query: () =>
    pageQuery({ status: z.enum(TASK_STATUSES).optional().meta({ description: 'Only tasks with this status.' }) }),
  list: 'page',
  response: TaskSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['api.tasks.list', query.status ?? null],
      query,
      (options) => listTasks(work, caller.installation.id, query.status, options),
      (task) => presentTask(work, task),
    ),
})

const read = defineEndpoint({
  id: 'api.tasks.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/tasks/{id}',
  params: { id: 'task' },
  caller: 'integration',
  scope: 'tasks:read',
  summary: 'Read a task with its conversation',
  description: 'One that is assigned to the agent, or that it delegated.',
  response: TaskWithConversationSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readAsAgent(work, caller.installation, params.id),
})

const write = {
  group: 'api',
  method: 'POST',
  params: { id: 'task' },
  caller: 'integration',
  scope: 'tasks:write',
  response: TaskSchema,
  errors: ['conflict', 'run_already_finished'],
  needs: ['objects:read', 'objects:write'],
} as const

const progress = defineEndpoint({
  ...write,
  id: 'api.tasks.progress',
  path: '/api/v1/tasks/{id}/progress',
  summary: 'Report what is being done',
  description:
    'People see it at once, as a message in the task’s conversation. The first report takes the task from `todo` to `in_progress`; otherwise its status stays.',
  body: ReportProgress,
  handler: ({ work, caller, params, body }) => reportProgress(work, caller, params.id, body),
})

const question = defineEndpoint({
  ...write,
  id: 'api.tasks.question',
  path: '/api/v1/tasks/{id}/question',
  summary: 'Ask the people about a task',
  description:
    'From any status the task moves to `discuss`, and the people are notified. The answer is a message in the task’s conversation and starts a run, unless one of the task is active.',
  body: AskQuestion,
  handler: ({ work, caller, params, body }) => askQuestion(work, caller, params.id, body.text),
})

const report = defineEndpoint({
  ...write,
  id: 'api.tasks.report',
  path: '/api/v1/tasks/{id}/report',
  summary: 'Report a task’s result',
  description:
    'From any status the task moves to `review`: a person sets `done`. A later report takes the place of an earlier one. The agent that delegated the task gets `task.result`.',
  body: ReportResult,
  maxBodyBytes: REPORT_BODY,
  handler: ({ work, caller, params, body }) => reportResult(work, caller, params.id, body),
})

const status = defineEndpoint({
  ...write,
  id: 'api.tasks.setStatus',
  path: '/api/v1/tasks/{id}/status',
  summary: 'Move a task',
  description:
    'From `todo` to `in_progress`, from there to `discuss` and back. Any other move is 409 `conflict`, which says the possible ones.',
  body: SetStatus,
  handler: ({ work, caller, params, body }) => setStatus(work, caller, params.id, body.status),
})

export const taskEndpoints = [list, read, progress, question, report, status]
