import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  AskQuestion,
  askQuestion,
  listTasks,
  presentTask,
  ReportProgress,
  ReportResult,
  readTaskAsAgent,
  reportProgress,
  reportResult,
  SetStatus,
  setTaskStatus,
  TASK_STATUSES,
  TaskSchema,
  TaskWithConversationSchema,
} from '#shared/work/tasks/index.ts'

/** Room for 1 MiB of output with any escaping. The exact limit is checked on the parsed value. */
const REPORT_BODY = 4 * 1_024 * 1_024

const list = defineEndpoint({
  id: 'api.tasks.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/tasks',
  caller: 'integration',
  scope: 'tasks:read',
  summary: 'List the agent’s tasks, newest first',
  query: () =>
    pageQuery({ status: z.enum(TASK_STATUSES).optional().meta({ description: 'Only tasks with this status.' }) }),
  list: {
    read: ({ work, caller, query }, page) => listTasks(work, caller.installation.id, query.status, page, caller.viewer),
    present: (task, { work }) => presentTask(work, task),
  },
  response: TaskSchema,
  needs: ['objects:read'],
})

const read = defineEndpoint({
  id: 'api.tasks.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/tasks/{id}',
  params: { id: 'task' },
  caller: 'integration',
  scope: 'tasks:read',
  summary: 'Get a task with its conversation',
  description: 'The task must be assigned to the agent or delegated by it.',
  response: TaskWithConversationSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readTaskAsAgent(work, caller.installation, params.id, caller.viewer),
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
  summary: 'Report progress on a task',
  description:
    'The report appears immediately as a message in the task’s conversation. The first report moves the task from ' +
    '`todo` to `in_progress`. Later reports don’t change its status.',
  body: ReportProgress,
  handler: ({ work, caller, params, body }) => reportProgress(work, caller, params.id, body),
})

const question = defineEndpoint({
  ...write,
  id: 'api.tasks.question',
  path: '/api/v1/tasks/{id}/question',
  summary: 'Ask people a question about a task',
  description:
    'Moves the task to `discuss` from any status, and notifies people. The answer is a message in the task’s ' +
    'conversation and starts a run, unless the task already has an active one.',
  body: AskQuestion,
  handler: ({ work, caller, params, body }) => askQuestion(work, caller, params.id, body.text),
})

const report = defineEndpoint({
  ...write,
  id: 'api.tasks.report',
  path: '/api/v1/tasks/{id}/report',
  summary: 'Report a task’s result',
  description:
    'Moves the task to `review` from any status. Only a person can move it to `done`. A later report replaces an ' +
    'earlier one. The agent that delegated the task gets a `task.result` event.',
  body: ReportResult,
  maxBodyBytes: REPORT_BODY,
  needs: [...write.needs, 'queue:dispatch'],
  handler: ({ work, caller, params, body }) => reportResult(work, caller, params.id, body),
})

const status = defineEndpoint({
  ...write,
  id: 'api.tasks.setStatus',
  path: '/api/v1/tasks/{id}/status',
  summary: 'Set a task’s status',
  description:
    'You can move a task from `todo` to `in_progress`, and between `in_progress` and `discuss`. Any other move gets ' +
    '409 `conflict`, which lists the allowed ones.',
  body: SetStatus,
  handler: ({ work, caller, params, body }) => setTaskStatus(work, caller, params.id, body.status),
})

export const endpoints = [list, read, progress, question, report, status]
