import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { atLeast, isMembership, type Member, MemberEntity, UserEntity } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { endWrites } from './end.ts'
import { type HostGrant, HostGrantEntity, hostGrantsOf } from './entity.ts'

/** A host's grant as people of the workspace see it (contract/connect.md#owners-and-hosts). */
export const HostGrantSchema = () =>
  z
    .object({
      id: idField('grt'),
      kind: z.literal('host'),
      client: z.object({
        id: z.string().meta({ description: 'Address of its document, or the id of its registration.' }),
        name: z.string().meta({ description: 'The name that it gives itself. Nobody has verified it.' }),
        host: z.string().meta({ example: 'claude.ai' }),
      }),
      resource: z.string().meta({ description: 'Path of the MCP server, or `/a2a`.', example: '/mcp' }),
      scopes: z.array(z.string()),
      person: z.object({ id: idField('usr'), name: z.string() }),
      created_at: time(),
      last_used_at: time().nullable().meta({ description: 'When tokens were last issued; null if none were.' }),
    })
    .meta({ id: 'HostGrant' })

interface Listed {
  grant: HostGrant
  name: string
}

/** Reports whether a grant could still get tokens: its refresh token lives for 30 days. */
const isIdle = ({ created_at, last_used_at = created_at }: HostGrant, now: number): boolean =>
  last_used_at + LIMITS.hostRefreshLife <= now

/**
 * Lists a workspace's live grants to hosts, newest first: the viewer's own, or everyone's for an admin. Grants of people who
 * left have ended, so a page may hold fewer than its limit.
 */
export const listHostGrants = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  viewer: Member,
  all: boolean,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Listed>> => {
  if (all && !atLeast(viewer.role, 'admin')) {
    throw fail('admin_required', {
      message: 'Only admins see the assistants of everybody.',
      fix: 'Omit all, or ask an admin of the workspace.',
    })
  }
  const { workspace_id } = viewer
  const { items, next } = await table.listed(HostGrantEntity, hostGrantsOf(workspace_id), options)
  const now = clock.now()
  const live = items.filter(
    (grant) =>
      grant.status === 'active' &&
      grant.expires_at > now &&
      !isIdle(grant, now) &&
      (all || grant.user_id === viewer.user_id),
  )
  const [members, people] = await Promise.all([
    table.getAll(live.map(({ user_id }) => MemberEntity.ref({ workspace_id, user_id }))),
    table.getAll(live.map(({ user_id }) => UserEntity.ref({ id: user_id }))),
  ])
  return {
    items: live.flatMap((grant, i) => {
      const person = people[i]
      return person && isMembership(members[i], grant.member_since) ? [{ grant, name: person.name }] : []
    }),
    next,
  }
}

export const presentHostGrant = ({ grant, name }: Listed) => ({
  id: grant.id,
  kind: 'host' as const,
  client: grant.client,
  resource: grant.resource,
  scopes: grant.scopes,
  person: { id: grant.user_id, name },
  created_at: iso(grant.created_at),
  last_used_at: grant.last_used_at === undefined ? null : iso(grant.last_used_at),
})

/**
 * Disconnects a host, at once. @returns false if the workspace has no live grant with this id
 * @throws `admin_required` for another person's
 */
export const disconnectHost = async (work: Work, by: Member, id: string): Promise<boolean> => {
  const grant = await work.table.get(HostGrantEntity, { workspace_id: by.workspace_id, id })
  if (grant?.status !== 'active') return false
  const isOwn = grant.user_id === by.user_id
  if (!isOwn && !atLeast(by.role, 'admin')) {
    throw fail('admin_required', {
      message: 'Another person connected this assistant. Disconnecting it requires the role admin.',
      fix: 'Ask the person who connected it, or an admin of the workspace.',
    })
  }
  try {
    await work.commit(endWrites(work, grant, isOwn ? 'person' : 'admin', by.user_id))
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    throw error
  }
}
