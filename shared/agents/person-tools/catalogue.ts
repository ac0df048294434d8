import * as z from 'zod'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { contentFields, contentTypeForModels, fileNameForModels } from '#shared/work/files/index.ts'
import { RUN_STATUSES } from '#shared/work/runs/index.ts'
import { taskDescription, taskTitle } from '#shared/work/tasks/index.ts'
import { NewSchedule, SCHEDULE_STATUSES } from '../schedules/index.ts'

export interface PersonTool {
  description: string
  scope: Scope
  /** Returns another scope that these arguments need. They haven't been checked yet. */
  furtherScope?: (args: Record<string, unknown>) => Scope | undefined
  risk: 'read' | 'write'
  input: () => z.ZodType<Record<string, unknown>>
}

const limit = () => z.number().int().min(1).max(LIMITS.pageMax).default(20)

const agent = () =>
  z.string().min(1).max(200).meta({ description: 'The slug or exact name of an agent in the workspace.' })

/**
 * Tools that a person's host gets (contract/mcp.md#tools-of-people). Each does what the person can do in the console.
 * Nothing here decides, installs, invites, fetches an address or changes a setting: a model isn't the one to do that.
 */
export const PERSON_TOOLS = {
  workspace_info: {
    description: 'Read the workspace’s name and settings.',
    scope: 'workspace:read',
    risk: 'read',
    input: () => z.strictObject({}),
  },
  list_agents: {
    description: 'List the workspace’s agents that work, newest first.',
    scope: 'agents:read',
    risk: 'read',
    input: () => z.strictObject({ limit: limit() }),
  },
  list_runs: {
    description: 'List the workspace’s latest runs, newest first.',
    scope: 'runs:read',
    risk: 'read',
    input: () => z.strictObject({ status: z.enum(RUN_STATUSES).optional(), limit: limit() }),
  },
  get_run: {
    description: 'Read a run with its steps and its output, such as the answer to a message or the result of a task.',
    scope: 'runs:read',
    risk: 'read',
    input: () => z.strictObject({ run_id: z.string().max(64) }),
  },
  list_tasks: {
    description: 'List the workspace’s tasks, newest first.',
    scope: 'tasks:read',
    risk: 'read',
    input: () => z.strictObject({ limit: limit() }),
  },
  create_task: {
    description: 'Create a task for the people of the workspace. To have an agent work on it, call delegate_task.',
    scope: 'tasks:write',
    risk: 'write',
    input: () => z.strictObject({ title: taskTitle(), description: taskDescription().default('') }),
  },
  delegate_task: {
    description: 'Create a task for an agent and start it. Read its progress with get_run.',
    scope: 'tasks:write',
    risk: 'write',
    input: () => z.strictObject({ agent: agent(), title: taskTitle(), description: taskDescription().default('') }),
  },
  list_files: {
    description: 'List the workspace’s files, newest first. Read one as the resource aip://files/<id>.',
    scope: 'files:read',
    risk: 'read',
    input: () => z.strictObject({ limit: limit() }),
  },
  save_file: {
    description:
      'Save a file in the workspace, from text (at most 1 MiB) or base64 (at most 1.5 MiB). Agents with access to files can read it.',
    scope: 'files:write',
    risk: 'write',
    input: () =>
      z
        .strictObject({
          name: fileNameForModels(),
          ...contentFields(),
          content_type: contentTypeForModels().optional(),
        })
        .refine(({ content, content_base64 }) => (content === undefined) !== (content_base64 === undefined), {
          path: ['content'],
          message: 'send exactly one of content and content_base64',
        }),
  },
  message_agent: {
    description:
      'Write to an agent in your conversation with it. The answer is the output of the run: read it with get_run and run_id. A message without run_id waits for its turn.',
    scope: 'chat:write',
    risk: 'write',
    input: () => z.strictObject({ agent: agent(), text: z.string().trim().min(1).max(LIMITS.messageCharacters) }),
  },
  list_schedules: {
    description:
      'List schedules, newest first: yours, or the whole workspace’s if you are an admin. Each has its next times, and why it is paused.',
    scope: 'runs:read',
    risk: 'read',
    input: () =>
      z.strictObject({ agent: agent().optional(), status: z.enum(SCHEDULE_STATUSES).optional(), limit: limit() }),
  },
  create_schedule: {
    description:
      'Create a schedule, which starts runs of an agent in your name. Consequence: from now on, it starts them without asking ' +
      'you, until somebody pauses it in the console. What they cost counts against the budgets. Tell the person when it first ' +
      'falls due: next_times in the result. A message also needs the scope chat:write.',
    scope: 'runs:write',
    furtherScope: ({ start }) =>
      (start as { message?: unknown } | null | undefined)?.message === undefined ? undefined : 'chat:write',
    risk: 'write',
    input: () => z.strictObject({ agent: agent(), ...NewSchedule().shape }),
  },
} as const satisfies Record<string, PersonTool>

export type PersonToolName = keyof typeof PERSON_TOOLS

export const isPersonTool = (name: string): name is PersonToolName => Object.hasOwn(PERSON_TOOLS, name)
