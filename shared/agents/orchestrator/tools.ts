import * as z from 'zod'
import { ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { scopeRefusal } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import type { ModelRequest } from '#shared/kernel/ports/language-model.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import type { Run } from '#shared/work/runs/index.ts'
import {
  listTasksForPerson,
  readTaskAsPerson,
  TASK_STATUSES,
  type Task,
  type TaskStatus,
  taskNotFound,
} from '#shared/work/tasks/index.ts'
import { listAgents, presentAgent } from '../calls/list.ts'
import type { ToolCallContext } from '../tools/executors/executor.ts'
import type { ToolCaller } from '../tools/permission.ts'

/** A read-only tool of the orchestrator, limited to records that the person of its run may read. */
interface OwnTool {
  description: string
  scope: Scope
  inputSchema: Record<string, unknown>
  input: () => z.ZodType<Record<string, unknown>>
  execute(
    work: Work,
    scene: ToolCaller & Pick<ToolCallContext, 'run'>,
    args: Record<string, unknown>,
  ): Promise<Record<string, unknown>>
}

/** Maximum number of agents listed, and of latest tasks searched. */
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
      'List the workspace’s agents: each agent’s slug and summary, the tools it offers to ask_agent with their input schemas, whether you may call it and whether it takes tasks.',
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
    description: 'List the workspace’s latest tasks, newest first.',
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
    async execute(work, { workspace, run }, args) {
      const { status, limit } = args as { status?: TaskStatus; limit: number }
      const { items } = await listTasksForPerson(work, workspace.id, personOf(run), { status }, { limit })
      return { tasks: items.map(shown), untrusted: true }
    },
  },
  read_task: {
    description: 'Read a task of the workspace: its text, its result and its messages.',
    scope: 'tasks:read',
    inputSchema: object({ task_id: { type: 'string' } }, ['task_id']),
    input: () => z.strictObject({ task_id: z.string() }),
    async execute(work, { workspace, run }, args) {
      const { task_id } = args as { task_id: string }
      if (!isId('task', task_id)) throw taskNotFound()
      return { task: await readTaskAsPerson(work, workspace.id, personOf(run), task_id), untrusted: true }
    },
  },
}

/** Returns the person whose conversation a run belongs to. Nobody's private tasks are shown to a run without one. */
const personOf = (run: Run | undefined): string => run?.private_to ?? ''

const shown = ({ id, title, status, assignee, created_by, updated_at }: Task) => ({
  id,
  title,
  status,
  agent: assignee?.name ?? null,
  created_by: created_by.name,
  updated_at: iso(updated_at),
})

const isOrchestrator = ({ app }: Pick<ToolCallContext, 'app'>): boolean => app.id === ORCHESTRATOR_APP_ID

/** Returns the orchestrator's own tool with this name; undefined for any other caller. */
export const orchestratorTool = (caller: Pick<ToolCallContext, 'app'>, name: string): OwnTool | undefined =>
  isOrchestrator(caller) && Object.hasOwn(OWN_TOOLS, name) ? OWN_TOOLS[name] : undefined

const refusalOf = (name: string, { scope }: OwnTool, caller: ToolCaller): PlatformError | undefined =>
  scopeRefusal(scope, caller, `The tool ${name}`)

/** Lists the orchestrator's own tools that the workspace permits, as offered to the model; none for any other agent. */
export const offeredOrchestratorTools = (caller: ToolCaller & Pick<ToolCallContext, 'app'>): ModelRequest['tools'] =>
  isOrchestrator(caller)
    ? Object.entries(OWN_TOOLS)
        .filter(([name, tool]) => !refusalOf(name, tool, caller))
        .map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }))
    : []

/**
 * Executes one of the orchestrator's own tools. These tools never change anything.
 * @throws `scope_denied_by_admin`; the errors of `check` for invalid arguments; `not_found`
 */
export const executeOrchestratorTool = async (
  work: Work,
  caller: ToolCaller & Pick<ToolCallContext, 'app' | 'run'>,
  name: string,
  given: Record<string, unknown>,
  check: (schema: z.ZodType<Record<string, unknown>>, value: unknown) => Record<string, unknown>,
): Promise<Record<string, unknown>> => {
  const tool = orchestratorTool(caller, name)
  if (!tool) throw fail('unknown_tool')
  const refusal = refusalOf(name, tool, caller)
  if (refusal) throw refusal
  return tool.execute(work, caller, check(tool.input(), given))
}
