import { platformCountWrite } from '#shared/foundation/counters/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { placeOfWorkspace, rosterWrites } from '#shared/staff/roster/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Workspace, WorkspaceEntity } from './entity.ts'

export interface NewWorkspace {
  /** Default: a new id. */
  id?: string
  name: string
  isSandbox?: boolean
  /** Developer who owns the sandbox. */
  developerId?: string
  /** Language tag (BCP 47). Default: `en`. */
  locale?: string
  /** IANA time zone. Default: `UTC`. */
  timeZone?: string
}

/** Creates a workspace with its writes, for the caller's transaction. */
export const newWorkspaceWrites = (work: Work, input: NewWorkspace): { workspace: Workspace; writes: Write[] } => {
  const workspace: Workspace = {
    ...stampOf(input.id ?? work.id('workspace'), work.clock.now()),
    name: input.name,
    is_sandbox: input.isSandbox ?? false,
    status: 'active',
    locale: input.locale ?? 'en',
    time_zone: input.timeZone ?? 'UTC',
    cross_agent_enabled: true,
    denied_tools: [],
    denied_scopes: [],
    developer_id: input.developerId,
  }
  return {
    workspace,
    writes: [
      WorkspaceEntity.create(workspace),
      ...rosterWrites(undefined, placeOfWorkspace(workspace)),
      // A sandbox is counted with its developer. Two counts could hit the same shard, and a transaction writes an item once.
      ...(workspace.is_sandbox
        ? []
        : [platformCountWrite(work, workspace.created_at, workspace.id, { workspaces: 1 })]),
    ],
  }
}
