import type { Work } from '#shared/foundation/work/index.ts'
import { newWorkspaceWrites, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { derivedId } from '#shared/kernel/ids.ts'
import { retryOnConflict } from '#shared/table/retry.ts'

/**
 * Returns the id of the workspace in which moderators test an app. Each app has its own, so that no app sees another's
 * data.
 */
export const moderationSandboxId = (appId: string): string => derivedId('workspace', 0, `moderation:${appId}`)

/** Returns the sandbox, creating it on first use. If two requests create it at once, one of them succeeds. */
export const ensureModerationSandbox = (work: Work, { id, name }: { id: string; name: string }): Promise<Workspace> =>
  retryOnConflict(async () => {
    const workspaceId = moderationSandboxId(id)
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
