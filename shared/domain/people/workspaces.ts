import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { placeOfWorkspace, rosterWrites } from '../roster/places.ts'
import { countedOnPlatform } from '../statistics/platform.ts'

export interface NewWorkspace {
  /** Default: a new id. */
  id?: string
  name: string
  isSandbox?: boolean
  /** The developer whose sandbox it is. */
  developerId?: string
  /** BCP 47; default `en`. */
  locale?: string
  /** IANA; default `UTC`. */
  timeZone?: string
}

/** A new workspace and the writes that make it, for the transaction of whoever founds it. */
export const newWorkspaceWrites = (work: Work, input: NewWorkspace): { workspace: Workspace; writes: Write[] } => {
  const workspace: Workspace = {
    id: input.id ?? work.id('workspace'),
    name: input.name,
    is_sandbox: input.isSandbox ?? false,
    status: 'active',
    locale: input.locale ?? 'en',
    time_zone: input.timeZone ?? 'UTC',
    cross_agent_enabled: true,
    denied_tools: [],
    denied_scopes: [],
    developer_id: input.developerId,
    created_at: work.clock.now(),
  }
  return {
    workspace,
    writes: [
      WorkspaceEntity.create(workspace),
      ...rosterWrites(undefined, placeOfWorkspace(workspace)),
      // A sandbox comes with its developer, who counts it: a transaction writes an item once, and both may be in one shard.
      ...(workspace.is_sandbox ? [] : [countedOnPlatform(work, workspace.created_at, workspace.id, { workspaces: 1 })]),
    ],
  }
}
