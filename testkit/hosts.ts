import { type HostGrant, HostGrantEntity } from '#shared/access/hosts/entity.ts'
import { HOST_SCOPES } from '#shared/access/hosts/resources.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { MemberEntity } from '#shared/identity/people/entity.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { TestPlatform } from './platform.ts'

/** Connects a host to a person's workspace, as a consent and a code would, and returns their token for a resource. */
export const hostToken = async (
  deps: TestPlatform['deps'],
  { workspaceId, userId }: { workspaceId: string; userId: string },
  { resource = '/mcp', scopes = [...HOST_SCOPES], ...changes }: Partial<HostGrant> = {},
): Promise<{ token: string; grant: HostGrant }> => {
  const now = deps.clock.now()
  const member = await deps.table.get(MemberEntity, { workspace_id: workspaceId, user_id: userId })
  const grant: HostGrant = {
    id: newId('grant', now),
    workspace_id: workspaceId,
    user_id: userId,
    client: { id: 'https://host.example/client.json', name: 'Assistant', host: 'host.example' },
    resource,
    scopes,
    member_since: member?.joined_at ?? 0,
    status: 'active',
    created_at: now,
    expires_at: now + 180 * DAY,
    ...changes,
  }
  await deps.table.transact([HostGrantEntity.create(grant)])
  const claims = { grt: grant.id, ws: workspaceId, usr: userId }
  return { token: (await issueToken(deps, 'person', claims, resource)).token, grant }
}
