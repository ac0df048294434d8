import * as z from 'zod'
import { amount, idField, line, name, time } from '#shared/foundation/schemas/index.ts'
import { AttachmentSchema, attachmentIds, MessageSchema } from '../conversations/schemas.ts'
import { TASK_PRIORITIES, TASK_STATUSES } from './status.ts'

/** Length limits of tasks (contract/limits.md#lengths-and-sizes). */
export const taskTitle = () => line(300)

export const taskDescription = () => z.string().max(8_000)

/** Text of an agent's or a person's message about a task. */
const taskText = () => line(4_000)

const LABELS = 10

const label = () => name(40)

const dueDate = () =>
  z.iso.date('must be a date such as 2026-11-30').meta({ description: 'Calendar date.', example: '2026-11-30' })

const json = () => z.record(z.string(), z.unknown())

const taskFields = () => ({
  id: idField('tsk'),
  title: z.string(),
  description: z.string(),
  status: z.enum(TASK_STATUSES),
  audience: z
    .enum(['member', 'external'])
    .meta({ description: '`external`: it came from a message by someone outside the workspace.' }),
  assignee: z
    .object({
      installation_id: idField('ins'),
      agent: z.string().meta({ description: 'The agent’s slug.' }),
      name: z.string(),
    })
    .meta({ id: 'TaskAssignee' })
    .nullable()
    .meta({ description: 'Agent that has the task; null if no agent has it.' }),
  assigned_person: z
    .object({ user_id: idField('usr'), name: z.string() })
    .meta({ id: 'TaskAssignedPerson' })
    .nullable()
    .meta({ description: 'Person who has the task; null if nobody or an agent has it.' }),
  priority: z.enum(TASK_PRIORITIES),
  due_date: z.string().nullable().meta({ description: 'Calendar date.', example: '2026-11-30' }),
  labels: z.array(z.string()),
  attachments: z.array(AttachmentSchema()),
  created_by: z
    .object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() })
    .meta({ id: 'TaskCreatedBy' }),
  is_private: z
    .boolean()
    .meta({ description: 'True if a private conversation caused it: only that conversation’s person sees it.' }),
  conversation_id: idField('cnv'),
  parent_run_id: idField('run').nullable().meta({ description: 'Run in which an agent created it.' }),
  chain_depth: z
    .number()
    .int()
    .meta({ description: 'Number of agents before it in its chain. It doesn’t change with the agent.' }),
  question: z
    .object({ text: z.string(), asked_at: time() })
    .meta({ id: 'TaskQuestion' })
    .nullable()
    .meta({ description: 'The agent’s latest question.' }),
  percent: z.number().nullable().meta({ description: 'Progress that the agent last reported, 0 to 100.' }),
  result: z
    .object({ text: z.string(), output: json().nullable(), reported_at: time() })
    .meta({ id: 'TaskResult' })
    .nullable()
    .meta({ description: 'The final report.' }),
  created_at: time(),
  updated_at: time(),
})

/** A task as the API shows it (contract/tasks-files-conversations.md#tasks). */
export const TaskSchema = () => z.object(taskFields()).meta({ id: 'WorkspaceTask' })

/** A task with its latest messages. */
export const TaskWithConversationSchema = () =>
  z
    .object({
      ...taskFields(),
      conversation: z.object({
        id: idField('cnv'),
        messages: z.array(MessageSchema()).meta({ description: 'The latest 50, oldest first.' }),
      }),
    })
    .meta({ id: 'TaskWithConversation' })

export type TaskWithConversationView = z.infer<ReturnType<typeof TaskWithConversationSchema>>

export type TaskView = z.infer<ReturnType<typeof TaskSchema>>

/** A task with the run that was started for it. */
export const HandedTaskSchema = () => z.object({ ...taskFields(), run_id: idField('run') }).meta({ id: 'HandedTask' })

export type HandedTaskView = z.infer<ReturnType<typeof HandedTaskSchema>>

export const ReportProgress = () =>
  z.strictObject({
    text: taskText(),
    percent: amount(100).optional().meta({ description: 'Progress, 0 to 100.' }),
  })

export const AskQuestion = () => z.strictObject({ text: taskText() })

export const ReportResult = () =>
  z.strictObject({ text: taskText(), output: json().optional().meta({ description: 'At most 1 MiB as JSON.' }) })

export const SetStatus = () => z.strictObject({ status: z.enum(TASK_STATUSES) })

const labels = () =>
  z
    .array(label())
    .max(LABELS)
    .transform((given) => [...new Set(given)])

/** A task has one assignee, an agent or a person. */
const hasOneAssignee = ({ installation_id, user_id }: { installation_id?: unknown; user_id?: unknown }): boolean =>
  typeof installation_id !== 'string' || typeof user_id !== 'string'

const ONE_ASSIGNEE = { message: 'names an agent and a person; a task has one assignee', path: ['user_id'] }

export const CreateTask = () =>
  z
    .strictObject({
      title: taskTitle(),
      description: taskDescription().default(''),
      installation_id: z.string().optional().meta({ description: 'Agent that gets the task.' }),
      user_id: z.string().optional().meta({ description: 'Person who gets the task, instead of an agent.' }),
      priority: z.enum(TASK_PRIORITIES).default('normal'),
      due_date: dueDate().optional(),
      labels: labels().default([]),
      attachments: attachmentIds().default([]),
    })
    .refine(hasOneAssignee, ONE_ASSIGNEE)

/** Fields that a person may change. Null in `installation_id` or `user_id` unassigns the task. */
export const EditTask = () =>
  z
    .strictObject({
      title: taskTitle().optional(),
      description: taskDescription().optional(),
      status: z.enum(TASK_STATUSES).optional(),
      installation_id: z.string().nullable().optional().meta({ description: 'Agent that gets the task.' }),
      user_id: z.string().nullable().optional().meta({ description: 'Person who gets the task, instead of an agent.' }),
      priority: z.enum(TASK_PRIORITIES).optional(),
      due_date: dueDate().nullable().optional(),
      labels: labels().optional(),
      attachments: attachmentIds().optional(),
    })
    .refine(hasOneAssignee, ONE_ASSIGNEE)

/** Filters of the workspace's list of tasks. */
export const taskFilters = () => ({
  status: z.enum(TASK_STATUSES).optional(),
  assignee_id: z.string().max(64).optional().meta({
    description: 'Id of an agent’s installation or of a person, or `none` for tasks that nobody has.',
  }),
  priority: z.enum(TASK_PRIORITIES).optional(),
  label: z.string().max(40).optional(),
  due_until: dueDate().optional().meta({ description: 'Only tasks due on this date or before it.' }),
  q: z.string().trim().max(200).optional().meta({ description: 'Text in the title, the description or a label.' }),
})

export const HandTask = () =>
  z.strictObject({
    installation_id: z
      .string()
      .optional()
      .meta({ description: 'Agent that gets the task. Default: its current agent.' }),
  })

export const AnswerTask = () => z.strictObject({ text: taskText(), attachments: attachmentIds().default([]) })

export type TaskFilter = z.infer<z.ZodObject<ReturnType<typeof taskFilters>>>

export type CreateTask = z.infer<ReturnType<typeof CreateTask>>

export type AnswerTask = z.infer<ReturnType<typeof AnswerTask>>

export type EditTask = z.infer<ReturnType<typeof EditTask>>

export type ReportProgress = z.infer<ReturnType<typeof ReportProgress>>

export type ReportResult = z.infer<ReturnType<typeof ReportResult>>
