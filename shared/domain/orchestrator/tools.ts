import * as z from 'zod'
import { TASK_STATUSES, type Task, type TaskStatus } from '../../entities/tasks.ts'
import { iso } from '../../kernel/clock.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Scope } from '../../kernel/scopes.ts'
import { listAgents, presentAgent } from '../agents/list.ts'
import type { Work } from '../deps.ts'
import type { ModelRequest } from '../ports.ts'
import { scopeRefusal } from '../scope-refusal.ts'
import { noSuchTask } from '../tasks/change.ts'
import { listForWorkspace, readForWorkspace } from '../tasks/read.ts'
import type { Scene } from '../tools/executors/executor.ts'
import type { ToolCaller } from '../tools/permission.ts'
import { ORCHESTRATOR_APP_ID } from './principal.ts'

/** A tool that only the orchestrator has: it reads what every person of the workspace may read. */
interface OwnTool {
  description: string
  scope: Scope
  inputSchema: Record<string, unknown>
  input: () => z.ZodType<Record<string, unknown>>
  execute(work: Work, scene: ToolCaller, args: Record<string, unknown>): Promise<Record<string, unknown>>
}

/** Agents shown at once, and the latest tasks that are looked through. */
const AGENTS = 50
const TASKS = 100

const object = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const OWN_TOOLS: Record<string, OwnTool> = {
  list_agents: {
    description:
      'List the organization’s agents: the slug that names each, what it does, the tools it offers to ask_agent with their input schemas, whether you may call it and whether it takes tasks.',
    scope: 'agents:read',
    inputSchema: object({}),
    input: () => z.strictObject({}),
    async execute(work, { installation, workspace }) {
      const { items, next } = await listAgents(work, workspace.id, { limit: AGENTS })
      const agents = await Promise.all(
        items.map(async (agent) => {
          const { slug, name, summary, callable, takes_tasks, tools } = await presentAgent(work, agent, {
            installation,
            workspace,
          })
          return { slug, name, summary, callable, takes_tasks, tools }
        }),
      )
      return { agents, more: next !== undefined, untrusted: true }
    },
  },
  list_tasks: {
    description: 'List the organization’s latest tasks, newest first.',
    scope: 'tasks:read',
    inputSchema: object({
      status: { type: 'string', enum: TASK_STATUSES },
      limit: { type: 'integer', minimum: 1, maximum: TASKS, default: 20 },
    }),
    input: () =>
      z.strictObject({
        status: z.enum(TASK_STATUSES).optional(),
        limit: z.number().int().min(1).max(TASKS).default(20),
      }),
    async execute(work, { workspace }, args) {
      const { status, limit } = args as { status?: TaskStatus; limit: number }
      const { items } = await listForWorkspace(work, workspace.id, { limit: status === undefined ? limit : TASKS })
      const found = items.filter((task) => status === undefined || task.status === status).slice(0, limit)
      return { tasks: found.map(shown), untrusted: true }
    },
  },
  read_task: {
    description: 'Read one of the organization’s tasks: its text, its result and what was said about it.',
    scope: 'tasks:read',
    inputSchema: object({ task_id: { type: 'string' } }, ['task_id']),
    input: () => z.strictObject({ task_id: z.string() }),
    async execute(work, { workspace }, args) {
      const { task_id } = args as { task_id: string }
      if (!isId('task', task_id)) throw noSuchTask()
      return { task: await readForWorkspace(work, workspace.id, task_id), untrusted: true }
    },
  },
}

const shown = ({ id, title, status, assignee, created_by, updated_at }: Task) => ({
  id,
  title,
  status,
  agent: assignee?.name ?? null,
  created_by: created_by.name,
  updated_at: iso(updated_at),
})

const isOrchestrator = ({ app }: Pick<Scene, 'app'>): boolean => app.id === ORCHESTRATOR_APP_ID

/** The orchestrator's own tool of that name; undefined for any other caller. */
export const ownTool = (caller: Pick<Scene, 'app'>, name: string): OwnTool | undefined =>
  isOrchestrator(caller) && Object.hasOwn(OWN_TOOLS, name) ? OWN_TOOLS[name] : undefined

const refusalOf = (name: string, { scope }: OwnTool, caller: ToolCaller): PlatformError | undefined =>
  scopeRefusal(scope, caller, `The tool ${name}`)

/** The orchestrator's own tools as the model is told of them, as far as the organization lets it; none for any other agent. */
export const offeredOwnTools = (caller: ToolCaller & Pick<Scene, 'app'>): ModelRequest['tools'] =>
  isOrchestrator(caller)
    ? Object.entries(OWN_TOOLS)
        .filter(([name, tool]) => !refusalOf(name, tool, caller))
        .map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }))
    : []

/**
 * Executes one of its own tools; nothing is changed by it.
 * @throws `scope_denied_by_admin`; whatever `check` says about the arguments; `not_found`
 */
export const executeOwnTool = async (
  work: Work,
  caller: ToolCaller & Pick<Scene, 'app'>,
  name: string,
  given: Record<string, unknown>,
  check: (schema: z.ZodType<Record<string, unknown>>, value: unknown) => Record<string, unknown>,
): Promise<Record<string, unknown>> => {
  const tool = ownTool(caller, name)
  if (!tool) throw fail('unknown_tool')
  const refusal = refusalOf(name, tool, caller)
  if (refusal) throw refusal
  return tool.execute(work, caller, check(tool.input(), given))
}
