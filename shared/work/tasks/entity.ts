import * as z from 'zod'
import { payload } from '#shared/foundation/payloads/index.ts'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { attachmentFields } from '../conversations/entity.ts'
import { TASK_PRIORITIES, TASK_STATUSES, type TaskStatus } from './status.ts'

const looseResult = () => z.object({ workspace_id: z.string(), object: z.string(), due_at: z.number() })

/**
 * Mark for an object that isn't a task's result: while it is being stored, or after a later report replaced it. Written
 * before the object and removed after it, so that the object is always found, even if a worker fails in between.
 */
export const LooseResultEntity = defineEntity({
  name: 'loose-result',
  schema: looseResult,
  pk: 'WS#{workspace_id}',
  sk: 'LOOSERESULT#{object}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
})

const task = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    title: z.string(),
    description: z.string(),
    status: z.enum(TASK_STATUSES),
    audience: z.enum(['member', 'external']),
    /** Agent that has the task; absent while unassigned. */
    assignee: z.object({ installation_id: z.string(), slug: z.string(), name: z.string() }).optional(),
    /** Person who has the task. At most one of `assignee` and `person` is present. */
    person: z.object({ id: z.string(), name: z.string() }).optional(),
    /** Absent if `normal`. */
    priority: z.enum(TASK_PRIORITIES).optional(),
    /** Calendar date, such as `2026-11-30`. */
    due_date: z.string().optional(),
    labels: z.array(z.string()).optional(),
    attachments: z.array(attachmentFields()).optional(),
    created_by: z.object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() }),
    /** Agent that delegated it. It may read the task and gets the result. */
    delegated_by: z
      .object({ installation_id: z.string(), app_id: z.string(), slug: z.string(), name: z.string() })
      .optional(),
    /** Person at the start of the chain, passed on to every run of the task. */
    actor: z.object({ id: z.string(), name: z.string() }).optional(),
    /** Person whose private conversation caused it. Nobody else sees it. */
    private_to: z.string().optional(),
    conversation_id: z.string(),
    /** Run in which an agent created it. */
    parent_run_id: z.string().optional(),
    /** Stays with the task, regardless of its agent (contract/agent-to-agent.md#chains). */
    chain_depth: z.number(),
    /** Creation of the first run of the chain in which an agent created it. Runs that a person starts begin a new chain. */
    chain_started_at: z.number().optional(),
    /** Schedules whose events' runs led to it. */
    chain_schedules: z.array(z.string()).optional(),
    result: z.object({ text: z.string(), output: payload().optional(), at: z.number() }).optional(),
    /** The agent's latest question. */
    question: z.object({ text: z.string(), at: z.number() }).optional(),
    /** Progress in percent, as last reported by the agent. */
    percent: z.number().optional(),
    /** Raised by every change. Of two concurrent changes, one is retried. */
    revision: z.number(),
    created_at: createdAt(),
    updated_at: z.number(),
  })

export type Task = z.infer<ReturnType<typeof task>>

/** Owner of the list of an agent's tasks with one status. */
export const tasksByStatus = (installationId: string, status: TaskStatus): string => `${installationId}#TASKS#${status}`

export const TaskEntity = defineEntity({
  name: 'task',
  schema: task,
  pk: 'WS#{workspace_id}',
  sk: 'TASK#{id}',
  personal: {
    names: ['created_by', 'actor', 'person'],
    text: ['title', 'description', 'labels', 'attachments', 'question', 'result'],
  },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  list: ({ assignee, status, id }) => assignee && { owner: tasksByStatus(assignee.installation_id, status), sort: id },
})

const assigned = () => z.object({ installation_id: z.string(), task_id: z.string(), workspace_id: z.string() })

/** An agent's tasks in any status, newest first by id. Written with the assignment. */
export const AssignedTaskEntity = defineEntity({
  name: 'assigned-task',
  schema: assigned,
  pk: 'INS#{installation_id}',
  sk: 'TASK#{task_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const taskRun = () =>
  z.object({
    workspace_id: z.string(),
    task_id: z.string(),
    /** Latest run of the task by installation. A former agent may still be working on it. */
    runs: z.record(z.string(), z.string()),
  })

/** The latest runs of a task, which limit it to one active run of its agent. */
export const TaskRunEntity = defineEntity({
  name: 'task-run',
  schema: taskRun,
  pk: 'WS#{workspace_id}',
  sk: 'TASKRUN#{task_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
