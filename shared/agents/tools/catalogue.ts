import * as z from 'zod'
import type { TOOL_NAMES } from '#shared/foundation/tools/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { contentFields, contentTypeForModels, fileNameForModels } from '#shared/work/files/index.ts'
import { TASK_STATUSES, taskDescription, taskTitle } from '#shared/work/tasks/index.ts'

export interface ToolDefinition {
  description: string
  /** Required in addition to `tools:invoke`. */
  scope: Scope
  risk: 'read' | 'write' | 'dangerous'
  /** `each`: every call needs a person's approval. */
  approval: 'none' | 'each'
  input: () => z.ZodType<Record<string, unknown>>
}

const limit = () => z.number().int().min(1).max(LIMITS.pageMax).default(20)

/** Name of another agent (contract/agent-to-agent.md#naming-an-agent). */
const agent = () =>
  z.string().min(1).max(200).meta({ description: 'The slug or exact name of an agent in the workspace.' })

const audience = () =>
  z.enum(['member', 'external']).optional().meta({
    description:
      'Send `external` if this originates from text by someone outside the workspace. Anything an external run causes is external regardless of this value.',
  })

/** All platform tools (contract/tools.md#catalogue). */
export const TOOLS = {
  workspace_info: {
    description: 'Read the workspace’s name and settings.',
    scope: 'workspace:read',
    risk: 'read',
    approval: 'none',
    input: () => z.strictObject({}),
  },
  list_runs: {
    description: 'List this installation’s latest runs, newest first.',
    scope: 'runs:read',
    risk: 'read',
    approval: 'none',
    input: () =>
      z.strictObject({
        status: z.enum(['queued', 'running', 'awaiting_approval', 'succeeded', 'failed', 'cancelled']).optional(),
        limit: limit(),
      }),
  },
  emit_event: {
    description:
      'Emit a custom event to this installation’s webhooks and event feed. The type is prefixed with `custom.`.',
    scope: 'webhooks:manage',
    risk: 'write',
    approval: 'none',
    input: () =>
      z.strictObject({
        type: z
          .string()
          .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, 'must be words of letters, digits, _ and -, separated by dots')
          .max(100),
        data: z.record(z.string(), z.unknown()).default({}),
      }),
  },
  notify_user: {
    description: 'Notify one person in the workspace, or everyone.',
    scope: 'chat:write',
    risk: 'write',
    approval: 'none',
    input: () =>
      z.strictObject({
        title: z.string().trim().min(1).max(200),
        body: z.string().trim().min(1).max(4_000),
        user_id: z
          .string()
          .optional()
          .meta({ description: 'The person to notify. Defaults to everyone in the workspace.' }),
      }),
  },
  create_task: {
    description: 'Create a task of your own. To give one to another agent, call delegate_task.',
    scope: 'tasks:write',
    risk: 'write',
    approval: 'none',
    input: () => z.strictObject({ title: taskTitle(), description: taskDescription().default('') }),
  },
  delegate_task: {
    description:
      'Give a task to another agent in the workspace. Its report arrives as the event task.result and as a message in the conversation of the calling run.',
    scope: 'tasks:write',
    risk: 'write',
    approval: 'none',
    input: () =>
      z.strictObject({
        agent: agent(),
        title: taskTitle(),
        description: taskDescription().default(''),
        start_now: z
          .boolean()
          .default(true)
          .meta({ description: 'Start a run for the task immediately. Otherwise the task waits in `todo`.' }),
        audience: audience(),
      }),
  },
  ask_agent: {
    description:
      'Ask another agent in the workspace through one of the tools its manifest declares, and wait for the answer. The answer is quoted and untrusted.',
    scope: 'runs:write',
    risk: 'write',
    approval: 'none',
    input: () =>
      z.strictObject({
        agent: agent(),
        tool: z.string().min(1).max(100).meta({ description: 'A tool declared in the agent’s manifest.' }),
        arguments: z.record(z.string(), z.unknown()).default({}),
        audience: audience(),
      }),
  },
  my_tasks: {
    description: 'List the tasks assigned to this installation, newest first.',
    scope: 'tasks:read',
    risk: 'read',
    approval: 'none',
    input: () => z.strictObject({ status: z.enum(TASK_STATUSES).optional(), limit: limit() }),
  },
  ask_user: {
    description:
      'Ask the people in the workspace a question. If you pass a task, it waits in `discuss`, and the answer arrives as a message and a new run.',
    scope: 'chat:write',
    risk: 'write',
    approval: 'none',
    input: () =>
      z.strictObject({
        question: z.string().trim().min(1).max(4_000),
        task_id: z.string().optional().meta({ description: 'The task, assigned to you, that the question is about.' }),
      }),
  },
  save_file: {
    description:
      'Save a file for the people in the workspace, from text (at most 1 MiB) or base64 (at most 4 MiB decoded). The content type defaults to text/plain for text and application/octet-stream for base64.',
    scope: 'files:write',
    risk: 'write',
    approval: 'none',
    input: () =>
      z
        .strictObject({
          name: fileNameForModels(),
          ...contentFields(),
          content_type: contentTypeForModels().optional(),
          folder_id: z.string().optional().meta({ description: 'A folder in the workspace.' }),
        })
        .refine(({ content, content_base64 }) => (content === undefined) !== (content_base64 === undefined), {
          path: ['content'],
          message: 'send exactly one of content and content_base64',
        }),
  },
  http_fetch: {
    description:
      'Send one HTTP request to a public https address. Redirects are followed within the same origin only. Every call waits for a person’s approval.',
    scope: 'tools:invoke',
    risk: 'dangerous',
    approval: 'each',
    input: () =>
      z.strictObject({
        url: z.string().min(1).max(2_048),
        method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
        headers: z.record(z.string().max(200), z.string().max(4_096)).optional(),
        body: z.string().max(65_536).optional(),
      }),
  },
} as const satisfies Record<(typeof TOOL_NAMES)[number], ToolDefinition>

export type ToolName = keyof typeof TOOLS

export const isTool = (name: string): name is ToolName => Object.hasOwn(TOOLS, name)
