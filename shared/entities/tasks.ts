import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'
import { payload } from './payload.ts'
import { TASK_STATUSES, type TaskStatus } from './task-status.ts'

export { TASK_STATUSES, type TaskStatus } from './task-status.ts'

const task = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    title: z.string(),
    description: z.string(),
    status: z.enum(TASK_STATUSES),
    audience: z.enum(['member', 'external']),
    /** Whose task it is; absent while nobody has it. */
    assignee: z.object({ installation_id: z.string(), slug: z.string(), name: z.string() }).optional(),
    created_by: z.object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() }),
    /** The agent that delegated it: it may read the task, and the result returns to it. */
    delegated_by: z
      .object({ installation_id: z.string(), app_id: z.string(), slug: z.string(), name: z.string() })
      .optional(),
    /** The person at the start of the chain; passes down to every run of the task. */
    actor: z.object({ id: z.string(), name: z.string() }).optional(),
    conversation_id: z.string(),
    /** The run inside which an agent made it. */
    parent_run_id: z.string().optional(),
    /** Follows the task for ever, whoever runs it (decisions §5). */
    chain_depth: z.number(),
    result: z.object({ text: z.string(), output: payload().optional(), at: z.number() }).optional(),
    /** Percent that the agent last reported. */
    percent: z.number().optional(),
    /** Raised by every change: of two at once, one reads again. */
    revision: z.number(),
    created_at: z.number(),
    updated_at: z.number(),
  })

export type Task = z.infer<ReturnType<typeof task>>

/** Narrowed lists of an agent's tasks, one per status. */
export const tasksByStatus = (installationId: string, status: TaskStatus): string => `${installationId}#TASKS#${status}`

export const TaskEntity = defineEntity<Task>()({
  name: 'task',
  schema: task,
  pk: 'WS#{workspace_id}',
  sk: 'TASK#{id}',
  list: ({ assignee, status, id }) => assignee && { owner: tasksByStatus(assignee.installation_id, status), sort: id },
})

const assigned = () => z.object({ installation_id: z.string(), task_id: z.string(), workspace_id: z.string() })

/** An agent's tasks whatever their status, newest first by id; written with the assignment. */
export const AssignedTaskEntity = defineEntity<z.infer<ReturnType<typeof assigned>>>()({
  name: 'assigned-task',
  schema: assigned,
  pk: 'INS#{installation_id}',
  sk: 'TASK#{task_id}',
})

const taskRun = () =>
  z.object({
    workspace_id: z.string(),
    task_id: z.string(),
    /** Installation → its latest run of the task; one that gave the task away may be working on it still. */
    runs: z.record(z.string(), z.string()),
  })

/** The latest runs of a task: by them, a task has one active run of its agent at a time. */
export const TaskRunEntity = defineEntity<z.infer<ReturnType<typeof taskRun>>>()({
  name: 'task-run',
  schema: taskRun,
  pk: 'WS#{workspace_id}',
  sk: 'TASKRUN#{task_id}',
})
