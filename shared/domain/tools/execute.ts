import type { Installation } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import type { RunStatus } from '../../entities/runs.ts'
import { tell } from '../../events/outbox.ts'
import { iso } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { durationOf } from '../runs/present.ts'
import { listRuns } from '../runs/read.ts'
import type { ToolName } from './catalogue.ts'

/** What a tool that needs no approval does: its result, and the changes that belong to it. */
export interface Executed {
  result: Record<string, unknown>
  writes: Write[]
}

type Args = Record<string, unknown>
type Executor = (
  work: Work,
  scene: { installation: Installation; workspace: Workspace },
  args: Args,
) => Promise<Executed>

const workspaceInfo: Executor = async (_work, { workspace }) => ({
  result: {
    id: workspace.id,
    name: workspace.name,
    is_sandbox: workspace.is_sandbox,
    locale: workspace.locale,
    time_zone: workspace.time_zone,
    cross_agent_enabled: workspace.cross_agent_enabled,
    created_at: iso(workspace.created_at),
  },
  writes: [],
})

const listRunsTool: Executor = async (work, { installation }, args) => {
  const { status, limit } = args as { status?: RunStatus; limit: number }
  const { items } = await listRuns(work, installation.id, status, { limit })
  return {
    result: {
      runs: items.map((run) => ({
        id: run.id,
        status: run.status,
        trigger: run.trigger,
        error_code: run.error_code ?? null,
        created_at: iso(run.created_at),
        duration_ms: durationOf(run) ?? null,
      })),
    },
    writes: [],
  }
}

const emitEvent: Executor = async (work, { installation }, args) => {
  const { type, data } = args as { type: string; data: Record<string, unknown> }
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > LIMITS.eventDataBytes) {
    throw fail('payload_too_large', {
      message: `The event’s data has ${bytes} bytes; at most ${LIMITS.eventDataBytes}.`,
    })
  }
  const named = type.startsWith('custom.') ? type : `custom.${type}`
  const write = tell(work.clock, {
    type: named as `custom.${string}`,
    workspace_id: installation.workspace_id,
    installation_id: installation.id,
    app_id: installation.app_id,
    data,
  })
  return { result: { event_id: String(write.item?.id), type: named }, writes: [write] }
}

/** The tools that are executed at once. Those that need approval are executed by the approved-tools worker. */
export const EXECUTORS: Partial<Record<ToolName, Executor>> = {
  workspace_info: workspaceInfo,
  list_runs: listRunsTool,
  emit_event: emitEvent,
}
