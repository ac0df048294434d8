import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { loadAttachments, MessageSchema } from '#shared/work/conversations/index.ts'
import {
  AnswerTask,
  answerTask,
  CreateTask,
  createTask,
  EditTask,
  editTask,
  HandedTaskSchema,
  HandTask,
  listTasksForPerson,
  presentTask,
  readTaskAsPerson,
  runTask,
  TaskSchema,
  TaskWithConversationSchema,
  taskFilters,
} from '#shared/work/tasks/index.ts'

const common = { group: 'console', caller: 'console' } as const
const taskId = { id: 'task' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.tasks.list',
  method: 'GET',
  path: '/console/tasks',
  summary: 'List the workspace’s tasks, newest first',
  description:
    'With filters, a page looks through up to 1,000 tasks. It can be short or empty while `has_more` is true; continue ' +
    'with its cursor.',
  query: () => pageQuery(taskFilters()),
  list: {
    read: ({ work, caller, query: { limit, cursor, ...filter } }, page) =>
      listTasksForPerson(work, caller.workspace.id, caller.user.id, filter, page),
    present: (task, { work }) => presentTask(work, task),
  },
  response: TaskSchema,
  needs: ['objects:read'],
})

const create = defineEndpoint({
  ...common,
  id: 'console.tasks.create',
  method: 'POST',
  path: '/console/tasks',
  summary: 'Create a task',
  description: 'The task starts in `todo`. `POST /console/tasks/{id}/run` notifies the agent and starts it.',
  body: CreateTask,
  status: 201,
  response: TaskSchema,
  errors: ['not_found', 'installation_suspended', 'access_withdrawn', 'agent_cannot_take_tasks'],
  handler: ({ work, caller, body }) => createTask(work, caller.workspace, caller.user, body),
})

const read = defineEndpoint({
  ...common,
  id: 'console.tasks.read',
  method: 'GET',
  path: '/console/tasks/{id}',
  params: taskId,
  summary: 'Get a task with its conversation',
  response: TaskWithConversationSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readTaskAsPerson(work, caller.workspace.id, caller.user.id, params.id),
})

const edit = defineEndpoint({
  ...common,
  id: 'console.tasks.edit',
  method: 'PATCH',
  path: '/console/tasks/{id}',
  params: taskId,
  summary: 'Update a task',
  description: 'Fields that you leave out don’t change. A person can move a task between any two statuses.',
  body: EditTask,
  response: TaskSchema,
  errors: ['conflict', 'installation_suspended', 'access_withdrawn', 'agent_cannot_take_tasks'],
  needs: ['objects:read'],
  handler: ({ work, caller, params, body }) => editTask(work, caller.workspace, params.id, caller.user, body),
})

const run = defineEndpoint({
  ...common,
  id: 'console.tasks.run',
  method: 'POST',
  path: '/console/tasks/{id}/run',
  params: taskId,
  summary: 'Hand a task to an agent',
  description:
    'Starts a run of the agent with the task and its conversation. If you name an agent, it becomes the task’s ' +
    'assignee. While the assignee is working on the task, the response is 409 `conflict`.',
  body: HandTask,
  response: HandedTaskSchema,
  errors: [
    'conflict',
    'installation_suspended',
    'access_withdrawn',
    'agent_cannot_take_tasks',
    'too_many_active_runs',
    'budget_exceeded',
  ],
  needs: ['objects:read', 'objects:write', 'queue:dispatch'],
  handler: ({ work, caller, params, body }) =>
    runTask(work, caller.workspace, params.id, caller.user, body.installation_id),
})

const answer = defineEndpoint({
  ...common,
  id: 'console.tasks.answer',
  method: 'POST',
  path: '/console/tasks/{id}/messages',
  params: taskId,
  summary: 'Send a message about a task, such as the answer to a question',
  description:
    'If the task is in `discuss`, it returns to `in_progress`, and a run of its agent starts unless the task already ' +
    'has an active one.',
  body: AnswerTask,
  status: 201,
  response: MessageSchema,
  errors: ['conflict', 'too_many_active_runs', 'budget_exceeded'],
  needs: ['objects:read', 'objects:write', 'queue:dispatch'],
  handler: async ({ work, caller, params, body: { text, attachments } }) => {
    const { workspace, user } = caller
    const files = await loadAttachments(work, workspace.id, attachments)
    return answerTask(work, workspace, params.id, user, text, files)
  },
})

export const endpoints = [list, create, read, edit, run, answer]
