import type { PersonPrincipal } from '#shared/access/hosts/index.ts'
import { findAgent, listActiveAgents } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { presentOrganization } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { eachItem } from '#shared/table/pages.ts'
import { openAgentChat, postMessage } from '#shared/work/answering/index.ts'
import { type ContentInput, createFile, listFiles } from '#shared/work/files/index.ts'
import { durationOf, type RunStatus, readRunForWorkspace, searchRuns } from '#shared/work/runs/index.ts'
import { createTask, delegateTaskAsPerson, listTasksForPerson, presentTask } from '#shared/work/tasks/index.ts'
import { listWorkingAgents } from '../calls/list-working.ts'
import {
  type CheckEvent,
  createSchedule,
  listSchedules,
  type NewSchedule,
  personManager,
  presentSchedule,
  type ScheduleStatus,
} from '../schedules/index.ts'
import type { PersonToolName } from './catalogue.ts'

type Answer = Record<string, unknown>
/** Runs a tool with checked arguments. What it changes, it commits with its answer. */
type Execute = (work: Work, principal: PersonPrincipal, args: never, checkEvent: CheckEvent) => Promise<Answer>

const agentNamed = async (work: Work, { workspace }: PersonPrincipal, named: string) =>
  (await findAgent(await listActiveAgents(work, workspace.id), undefined, named)).installation

/** Runs each tool. Each passes the checks of the console's endpoint for the same. */
const EXECUTE: Record<PersonToolName, Execute> = {
  workspace_info: async (_work, { workspace }) => ({ ...presentOrganization(workspace) }),

  list_agents: async (work, { workspace }, { limit }: { limit: number }) => {
    const { items } = await listWorkingAgents(work, workspace, true, { limit })
    return {
      agents: items.map(({ slug, name, summary, takes_tasks, answers_chats }) => ({
        slug,
        name,
        summary,
        takes_tasks,
        answers_chats,
      })),
    }
  },

  list_runs: async (work, { workspace, person }, { status, limit }: { status?: RunStatus; limit: number }) => {
    const { items } = await searchRuns(work, workspace.id, person.id, { status }, { limit })
    return {
      runs: items.map((run) => ({
        id: run.id,
        agent: run.agent_id,
        status: run.status,
        trigger: run.trigger,
        error_code: run.error_code ?? null,
        created_at: iso(run.created_at),
        duration_ms: durationOf(run) ?? null,
      })),
    }
  },

  get_run: async (work, { workspace, person }, { run_id }: { run_id: string }) => {
    if (!isId('run', run_id)) throw fail('not_found', { message: 'Run not found.' })
    return { ...(await readRunForWorkspace(work, workspace.id, person.id, run_id)) }
  },

  list_tasks: async (work, { workspace, person }, { limit }: { limit: number }) => {
    const { items } = await listTasksForPerson(work, workspace.id, person.id, {}, { limit })
    return { tasks: await Promise.all(items.map((task) => presentTask(work, task))) }
  },

  create_task: async (work, { workspace, person }, args: { title: string; description: string }) => ({
    ...(await createTask(work, workspace, person, args)),
  }),

  delegate_task: async (work, principal, args: { agent: string; title: string; description: string }) => {
    const { workspace, person } = principal
    const installation = await agentNamed(work, principal, args.agent)
    return { ...(await delegateTaskAsPerson(work, workspace, person, { ...args, installation_id: installation.id })) }
  },

  list_files: async (work, { workspace }, { limit }: { limit: number }) => {
    const { items } = await listFiles(work, workspace.id, { kind: 'file' }, { limit })
    return { files: items }
  },

  save_file: async (
    work,
    { workspace, person },
    args: ContentInput & { name: string; content_type?: string | undefined },
  ) => {
    const { id: workspace_id, is_sandbox } = workspace
    const created_by = { type: 'user' as const, id: person.id, name: person.name }
    const usual = args.content === undefined ? 'application/octet-stream' : 'text/plain; charset=utf-8'
    const fields = { ...args, content_type: args.content_type ?? usual }
    return { ...(await createFile(work, { workspace_id, is_sandbox, created_by }, fields)) }
  },

  message_agent: async (work, principal, { agent, text }: { agent: string; text: string }) => {
    const speaker = { workspace: principal.workspace, user: principal.person }
    const installation = await agentNamed(work, principal, agent)
    const { id } = await openAgentChat(work, speaker, installation.id)
    return { ...(await postMessage(work, speaker, id, { text, attachments: [] })) }
  },

  list_schedules: async (
    work,
    principal,
    { agent, status, limit }: { agent?: string; status?: ScheduleStatus; limit: number },
  ) => {
    const { workspace, person, member } = principal
    const installation_id = agent === undefined ? undefined : (await agentNamed(work, principal, agent)).id
    const manager = personManager(workspace, person, member)
    const schedules = []
    for await (const schedule of eachItem((after) =>
      listSchedules(work, manager, { limit: LIMITS.pageMax, after }, { installation_id, status }),
    )) {
      schedules.push(await presentSchedule(work, schedule))
      if (schedules.length === limit) break
    }
    return { schedules }
  },

  create_schedule: async (work, principal, { agent, ...given }: NewSchedule & { agent: string }, checkEvent) => {
    const { workspace, person, member } = principal
    const { id: installation_id } = await agentNamed(work, principal, agent)
    const manager = personManager(workspace, person, member)
    return { ...(await createSchedule(work, manager, { ...given, installation_id }, checkEvent)) }
  },
}

/**
 * Runs a tool for a person.
 * @param args checked against the tool's input schema
 * @param checkEvent checks the events of a schedule
 */
export const executePersonTool = (
  work: Work,
  principal: PersonPrincipal,
  name: PersonToolName,
  args: Record<string, unknown>,
  checkEvent: CheckEvent,
): Promise<Answer> => EXECUTE[name](work, principal, args as never, checkEvent)
