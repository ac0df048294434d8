import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import { derivedId } from '../../kernel/ids.ts'
import type { Work } from '../deps.ts'
import { newWorkspaceWrites } from '../people/workspaces.ts'
import { tryAgain } from '../try-again.ts'

/** The workspace in which staff tests an app: one for each, so that none sees what another left. */
export const moderationSandbox = (appId: string): string => derivedId('workspace', 0, `moderation:${appId}`)

/** It is made at its first use; of two at once one makes it. */
export const ensureModerationSandbox = (work: Work, { id, name }: { id: string; name: string }): Promise<Workspace> =>
  tryAgain(async () => {
    const workspaceId = moderationSandbox(id)
    const known = await work.table.get(WorkspaceEntity, { id: workspaceId })
    if (known) return known
    const { workspace, writes } = newWorkspaceWrites(work, {
      id: workspaceId,
      name: `Moderation: ${name}`,
      isSandbox: true,
    })
    await work.commit(writes)
    return workspace
  })
