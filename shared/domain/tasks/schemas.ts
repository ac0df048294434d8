import * as z from 'zod'
import { TASK_STATUSES } from '../../entities/task-status.ts'
import { MessageSchema } from '../conversations/schemas.ts'
import { amount, idField, line, time } from '../fields.ts'

/** Specification "Limits". */
export const taskTitle = () => line(300)
export const taskDescription = () => z.string().max(8_000)

/** What an agent or a person says about a task. */
const taskText = () => line(4_000)

const json = () => z.record(z.string(), z.unknown())

const taskFields = () => ({
  id: idField('tsk'),
  title: z.string(),
  description: z.string(),
  status: z.enum(TASK_STATUSES),
  audience: z
    .enum(['member', 'external'])
    .meta({ description: '`external`: it came from the text of somebody outside the organization.' }),
  assignee: z
    .object({ installation_id: idField('ins'), agent: z.string().meta({ description: 'Its slug.' }), name: z.string() })
    .nullable()
    .meta({ description: 'The agent whose task it is; null while nobody has it.' }),
  created_by: z.object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() }),
  conversation_id: idField('cnv'),
  parent_run_id: idField('run').nullable().meta({ description: 'The run inside which an agent made it.' }),
  chain_depth: z
    .number()
    .int()
    .meta({ description: 'How many agents deep it stands in its chain; stays, whoever runs it.' }),
  percent: z.number().nullable().meta({ description: 'What the agent last reported, 0 to 100.' }),
  result: z
    .object({ text: z.string(), output: json().nullable(), reported_at: time() })
    .nullable()
    .meta({ description: 'The final report.' }),
  created_at: time(),
  updated_at: time(),
})

/** A task as the API shows it (decisions §8). */
export const TaskSchema = () => z.object(taskFields()).meta({ id: 'Task' })

/** One task with what was said about it. */
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

/** A task that was handed on, with the run that was started. */
export const HandedTaskSchema = () => z.object({ ...taskFields(), run_id: idField('run') }).meta({ id: 'HandedTask' })

export type HandedTaskView = z.infer<ReturnType<typeof HandedTaskSchema>>

export const ReportProgress = () =>
  z.strictObject({
    text: taskText(),
    percent: amount(100).optional().meta({ description: 'How far it is.' }),
  })

export const AskQuestion = () => z.strictObject({ text: taskText() })

export const ReportResult = () =>
  z.strictObject({ text: taskText(), output: json().optional().meta({ description: 'At most 1 MiB as JSON.' }) })

export const SetStatus = () => z.strictObject({ status: z.enum(TASK_STATUSES) })

export const CreateTask = () =>
  z.strictObject({
    title: taskTitle(),
    description: taskDescription().default(''),
    installation_id: z.string().optional().meta({ description: 'The agent whose task it becomes.' }),
  })

/** A person may change any of them; `installation_id: null` takes the task from its agent. */
export const EditTask = () =>
  z.strictObject({
    title: taskTitle().optional(),
    description: taskDescription().optional(),
    status: z.enum(TASK_STATUSES).optional(),
    installation_id: z.string().nullable().optional(),
  })

export const HandTask = () =>
  z.strictObject({
    installation_id: z
      .string()
      .optional()
      .meta({ description: 'The agent to hand it to, whose task it becomes. Without it: the one whose task it is.' }),
  })

export const AnswerTask = () => z.strictObject({ text: taskText() })

export type CreateTask = z.infer<ReturnType<typeof CreateTask>>
export type EditTask = z.infer<ReturnType<typeof EditTask>>

export type ReportProgress = z.infer<ReturnType<typeof ReportProgress>>
export type ReportResult = z.infer<ReturnType<typeof ReportResult>>
