import { type Claims, verifyToken } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import {
  isActive,
  isMembership,
  isStillGiven,
  loadGiver,
  type Member,
  MemberEntity,
  suspended,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { acceptedAt } from '#shared/kernel/host-resources.ts'
import { covers, SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { type HostGrant, HostGrantEntity } from './entity.ts'

/** A person who acts through a host, such as an assistant: what their token allows now. */
export interface PersonPrincipal {
  workspace: Workspace
  person: User
  /** Their membership, with the role that they have now. */
  member: Member
  /** Scopes in effect, after bans. A `:write` implies its `:read`, as in `covers`. */
  scopes: Scope[]
  grant: HostGrant
  client: HostGrant['client']
  /**
   * Name that what they start is bound to: cursors, tasks, idempotency keys. It outlasts the grant, so that a host may go on
   * after a new consent with more scopes.
   */
  name: string
  /** Expiry of the token, in epoch seconds. */
  expiresAt: number
}

/**
 * Authenticates a person's token at a resource, with one batch read of everything that its power depends on. It ends at
 * once with the membership, the person's block, the grant's revocation and the workspace's suspension.
 * @param token the bearer token
 * @param path path of the resource that the request is for: `/mcp`, `/mcp/agents/{slug}` or `/a2a` (with anything below).
 * A token for `/mcp` works at `/mcp/agents/{slug}`, too, and never the other way.
 * @throws `unauthorized` for a token that isn't valid here; `installation_suspended` while the workspace is suspended or
 * about to be deleted. Answer a 401 with `signInChallenge`, and a missing scope with `stepUpChallenge`.
 */
export const authenticatePerson = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings' | 'keys'>,
  token: string,
  path: string,
): Promise<PersonPrincipal> => {
  const verified = await verifyToken(deps, token, ['person'], acceptedAt(path))
  if (verified?.kind !== 'person') throw refused('The token is invalid, expired or for another resource.')
  return { ...(await loadPrincipal(deps, verified.claims)), expiresAt: verified.expiresAt }
}

/**
 * Loads everything that a grant's power depends on.
 * @throws `unauthorized` for access that has ended; `installation_suspended`
 */
export const loadPrincipal = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { grt, ws: workspace_id, usr: user_id, scp }: Claims['person'],
): Promise<Omit<PersonPrincipal, 'expiresAt'>> => {
  const [grant, person, member, workspace] = await deps.table.getAll([
    HostGrantEntity.ref({ workspace_id, id: grt }),
    UserEntity.ref({ id: user_id }),
    MemberEntity.ref({ workspace_id, user_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  const isIn = isActive(person, await loadGiver(deps, person), deps.clock.now()) && member && workspace
  const isGiven = member !== undefined && (await isStillGiven(deps, member))
  const isLive = grant?.status === 'active' && grant.user_id === user_id && isMembership(member, grant.member_since)
  if (!isIn || !isGiven || !isLive || grant.expires_at <= deps.clock.now())
    throw refused('The access of this host has ended.')
  if (workspace.status !== 'active') throw suspended(workspace)
  if (!admitsHost(workspace, grant.client.host)) throw refused('The workspace doesn’t admit this host.')
  const name = `${user_id}/${workspace_id}/${sha256(grant.client.id).slice(0, 32)}`
  const granted = scopesInEffect(grant, workspace)
  const scopes = scp === undefined ? granted : granted.filter((scope) => covers(scp.split(' '), scope))
  return { workspace, person, member, scopes, grant, client: grant.client, name }
}

/** Reports whether the owner lets people of the workspace use this host. */
export const admitsHost = ({ hosts }: Pick<Workspace, 'hosts'>, host: string): boolean =>
  hosts === undefined || (hosts.enabled && (hosts.allowed?.includes(host) ?? true))

/**
 * Returns the scopes of a grant without those that the workspace banned. A ban of reading ends writing, too, because every
 * answer to a write shows what it wrote. A ban of writing leaves the reading that was implied.
 */
const scopesInEffect = ({ scopes }: Pick<HostGrant, 'scopes'>, { denied_scopes }: Workspace): Scope[] => {
  const isBanned = (scope: string): boolean =>
    denied_scopes.includes(scope) || denied_scopes.includes(scope.replace(':write', ':read'))
  return SCOPE_NAMES.filter((scope) => covers(scopes, scope) && !isBanned(scope))
}

const refused = (message: string): PlatformError =>
  fail('unauthorized', { message, fix: 'Ask the person to connect the assistant again.' })
