import { MessageSchema } from '#shared/domain/conversations/schemas.ts'
import { answerTask, createTask, editTask, runTask } from '#shared/domain/tasks/by-person.ts'
import { presentTask } from '#shared/domain/tasks/present.ts'
import { listForWorkspace, readForWorkspace } from '#shared/domain/tasks/read.ts'
import {
  AnswerTask,
  CreateTask,
  EditTask,
  HandedTaskSchema,
  HandTask,
  TaskSchema,
  TaskWithConversationSchema,
} from '#shared/domain/tasks/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'console', caller: 'console' } as const
const taskId = { id: 'task' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.tasks.list',
  method: 'GET',
  path: '/console/tasks',
  summary: 'List the workspace’s tasks, newest first',
  query: () => pageQuery({}),
  list: 'page',
  response: TaskSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.tasks.list'],
      query,
      (options) => listForWorkspace(work, caller.workspace.id, options),
      (task) => presentTask(work, task),
    ),
})

const create = defineEndpoint({
  ...common,
  id: 'console.tasks.create',
  method: 'POST',
  path: '/console/tasks',
  summary: 'Create a task',
  description: 'It begins in `todo`. The agent is told of it and started by `POST /console/tasks/{id}/run`.',
  body: CreateTask,
  status: 201,
  response: TaskSchema,
  errors: ['not_found', 'installation_suspended', 'agent_cannot_take_tasks'],
  handler: ({ work, caller, body }) => createTask(work, caller.workspace, caller.user, body),
})

const read = defineEndpoint({
  ...common,
  id: 'console.tasks.read',
  method: 'GET',
  path: '/console/tasks/{id}',
  params: taskId,
  summary: 'Read a task with its conversation',
  response: TaskWithConversationSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readForWorkspace(work, caller.workspace.id, params.id),
})

const edit = defineEndpoint({
  ...common,
  id: 'console.tasks.edit',
  method: 'PATCH',
  path: '/console/tasks/{id}',
  params: taskId,
  summary: 'Change a task',
  description: 'Only what is given changes. A person may move a task from any status to any other.',
  body: EditTask,
  response: TaskSchema,
  errors: ['conflict', 'installation_suspended', 'agent_cannot_take_tasks'],
  needs: ['objects:read'],
  handler: ({ work, caller, params, body }) => editTask(work, caller.workspace, params.id, body),
})

const run = defineEndpoint({
  ...common,
  id: 'console.tasks.run',
  method: 'POST',
  path: '/console/tasks/{id}/run',
  params: taskId,
  summary: 'Hand a task to an agent',
  description:
    'Starts a run of the agent with the task and what was said about it. A named agent becomes the one whose task it is. While its agent works on it, it is 409 `conflict`.',
  body: HandTask,
  response: HandedTaskSchema,
  errors: ['conflict', 'installation_suspended', 'agent_cannot_take_tasks', 'too_many_active_runs'],
  needs: ['objects:read', 'objects:write'],
  handler: ({ work, caller, params, body }) =>
    runTask(work, caller.workspace, params.id, caller.user, body.installation_id),
})

const answer = defineEndpoint({
  ...common,
  id: 'console.tasks.answer',
  method: 'POST',
  path: '/console/tasks/{id}/messages',
  params: taskId,
  summary: 'Write a message about a task, such as the answer to a question',
  description:
    'While the task is in `discuss` it returns to `in_progress`, and a run of its agent is started unless one of the task is active.',
  body: AnswerTask,
  status: 201,
  response: MessageSchema,
  errors: ['conflict', 'too_many_active_runs'],
  needs: ['objects:read', 'objects:write'],
  handler: ({ work, caller, params, body }) => answerTask(work, caller.workspace, params.id, caller.user, body.text),
})

export const taskEndpoints = [list, create, read, edit, run, answer]
