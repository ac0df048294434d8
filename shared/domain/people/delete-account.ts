import { BotChatEntity } from '../../entities/bot.ts'
import {
  deletedPlace,
  IdentityEntity,
  type Member,
  MemberEntity,
  MembershipEntity,
  SessionEntity,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from '../../entities/people.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { either, missing, oneOf } from '../../table/expressions.ts'
import { auditEntry, auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { oneWriteEach } from '../one-write-each.ts'
import { tryAgain } from '../try-again.ts'
import { deletionWrites } from './delete-workspace.ts'
import { type Belonging, belongingTo } from './memberships.ts'
import { anotherOwner } from './rank.ts'
import type { SignedIn } from './sessions.ts'
import { forgettingWrites } from './telegram/forget.ts'

/** What a person is called who deleted their account. */
const NOBODY = 'Deleted user'

/** Workspaces that are looked at, and writes that one transaction has room for beside an Idempotency-Key's. */
const MOST_WORKSPACES = 32
const MOST_WRITES = 98

/**
 * `DELETE /console/me`: leaves a tombstone, in one transaction. Sessions end, because each asks for the person; the identity is
 * free, so that whoever comes by it again is somebody new. A workspace that nobody else is in is deleted with its grace; a
 * sandbox stays its developer's. What else is theirs (chats, votes, their name in records), also where they left before, the
 * removal's worker ends.
 * @throws `conflict` for the last owner of a workspace with others in it, naming those workspaces; for who is in too many
 */
export const deleteAccount = (work: Work, { user: { id }, session }: SignedIn): Promise<void> =>
  tryAgain(async () => {
    const user = await work.table.get(UserEntity, { id })
    if (user?.status !== 'active') throw fail('unauthorized')
    const { items, next } = await work.table.query(MembershipEntity, { user_id: user.id }, { limit: MOST_WORKSPACES })
    if (next !== undefined) throw tooMany()
    const found = await Promise.all(items.map(({ workspace_id }) => belongingTo(work, workspace_id, user.id)))
    const belongings = found.filter((one): one is Belonging => one !== undefined)
    const leavings = await Promise.all(belongings.map((belonging) => leaving(work, belonging)))
    const stuck = belongings.filter((_, i) => leavings[i] === 'last owner').map(({ workspace }) => workspace)
    if (stuck.length > 0) throw lastOwnerOf(stuck)
    const left = items.map(({ workspace_id }) => workspace_id)
    const buried = { ...tombstone(work, user), left }
    const writes = oneWriteEach([
      UserEntity.update(
        { id },
        { set: buried, list: deletedPlace(buried) ?? null },
        // Whoever comes into another workspace meanwhile would be in it for ever.
        { where: { status: 'active', joins: user.joins ?? missing, home_workspace_id: user.home_workspace_id } },
      ),
      IdentityEntity.delete(user, { where: { user_id: either(missing, oneOf(user.id)) } }),
      BotChatEntity.delete(user),
      ...(await forgettingWrites(work, user)),
      SessionEntity.delete(session),
      ...items.map((membership) => MembershipEntity.delete(membership)),
      ...leavings.flatMap((writes) => (writes === 'last owner' ? [] : writes)),
      auditEntry(work, {
        scope: 'platform',
        action: 'user.deleted',
        actor: { type: 'user', id },
        target: { type: 'user', id },
      }),
    ])
    if (writes.length > MOST_WRITES) throw tooMany()
    await work.commit(writes)
  })

const tombstone = ({ clock }: Pick<Work, 'clock'>, { id, created_at }: User): User => ({
  id,
  name: NOBODY,
  identity: `deleted:${id}`,
  locale: 'en',
  time_zone: 'UTC',
  status: 'deleted',
  home_workspace_id: '',
  created_at,
  joins: undefined,
  deleted_at: clock.now(),
})

/** What leaving one workspace comes to. */
const leaving = async (work: Work, { workspace, member }: Belonging): Promise<Write[] | 'last owner'> => {
  const { workspace_id, user_id, role } = member
  const ended: Write[] = [
    MemberEntity.delete(member, { where: { role } }),
    auditPerson(
      work,
      { workspaceId: workspace_id, userId: user_id },
      'member.removed',
      { type: 'user', id: user_id },
      { role, left: true },
    ),
  ]
  if (workspace.is_sandbox) return ended
  // Taken back at the same moment, it would go on without an owner.
  if (workspace.status === 'deleting') {
    return [...ended, WorkspaceEntity.check({ id: workspace_id }, { where: { status: 'deleting' } })]
  }
  if (await isAlone(work, member)) {
    return [...ended, ...deletionWrites(work, workspace, user_id, { joined_at: workspace.joined_at ?? missing })]
  }
  if (role !== 'owner') return ended
  const other = await anotherOwner(work, member)
  if (!other) return 'last owner'
  return [
    ...ended,
    MemberEntity.check(other, { where: { role: 'owner' } }),
    UserEntity.check({ id: other.user_id }, { where: { status: 'active' } }),
  ]
}

const isAlone = async ({ table }: Pick<Work, 'table'>, { workspace_id }: Member): Promise<boolean> =>
  (await table.query(MemberEntity, { workspace_id }, { limit: 2 })).items.length < 2

const lastOwnerOf = (workspaces: readonly Workspace[]): PlatformError =>
  fail('conflict', {
    message: 'You are the last owner of a workspace that others are in.',
    fix: 'In each of details.workspaces make somebody else an owner (PATCH /console/members/{id}) or delete the workspace (DELETE /console/workspace), then try again.',
    details: { workspaces: workspaces.map(({ id, name }) => ({ id, name })) },
  })

const tooMany = (): PlatformError =>
  fail('conflict', {
    message: 'You are in too many workspaces to leave all of them at once.',
    fix: 'Leave some of them first, with DELETE /console/workspace/membership; delete those that nobody else is in, with DELETE /console/workspace.',
  })
