import { listPasskeys, removePasskeyWrite } from '#shared/foundation/passkeys/index.ts'
import { wakePagesWrites } from '#shared/foundation/updates/index.ts'
import { mergeWrites, type Work } from '#shared/foundation/work/index.ts'
import {
  type Belonging,
  deletedPlace,
  deletionWrites,
  findAnotherOwner,
  findRecordedBelonging,
  IdentityEntity,
  type Member,
  MemberEntity,
  MembershipEntity,
  SessionEntity,
  type SignedIn,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { BotChatEntity } from '#shared/messaging/bot/index.ts'
import { PersonMailEntity } from '#shared/messaging/inbox/index.ts'
import { auditEntry, auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, missing, oneOf } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { telegramRemovalWrites } from './forget-telegram.ts'

/** Display name of a person who deleted their account. */
const DELETED_NAME = 'Deleted user'

/**
 * Maximum number of workspaces to leave, and of writes that fit into one transaction with those of an Idempotency-Key.
 */
const MOST_WORKSPACES = 32
const MOST_WRITES = 98

/**
 * Handles `DELETE /console/me`: replaces the account with a tombstone, in one transaction. Sessions end, because each
 * request reads the person. The identity becomes free, so its next user gets a new account. A workspace with no other
 * members is deleted after its grace period. A sandbox stays its developer's. The removal worker deletes the rest of
 * the person's data (conversations, votes, their name in records), also in workspaces that they left before.
 * @throws `conflict` for the last owner of a workspace with other members, naming those workspaces; also for a person
 * in too many workspaces
 */
export const deleteAccount = (work: Work, { user: { id }, session }: SignedIn): Promise<void> =>
  retryOnConflict(async () => {
    const user = await work.table.get(UserEntity, { id })
    if (user?.status !== 'active') throw fail('unauthorized')
    const { items, next } = await work.table.query(MembershipEntity, { user_id: user.id }, { limit: MOST_WORKSPACES })
    if (next !== undefined) throw tooMany()
    const found = await Promise.all(items.map(({ workspace_id }) => findRecordedBelonging(work, workspace_id, user.id)))
    const belongings = found.filter((one): one is Belonging => one !== undefined)
    const leavings = await Promise.all(belongings.map((belonging) => leavingWrites(work, belonging)))
    const blocking = belongings.filter((_, i) => leavings[i] === 'last owner').map(({ workspace }) => workspace)
    if (blocking.length > 0) throw lastOwnerOf(blocking)
    const passkeys = await listPasskeys(work, user.id)
    const left = items.map(({ workspace_id }) => workspace_id)
    const buried = { ...tombstone(work, user), left }
    const writes = mergeWrites([
      UserEntity.update(
        { id },
        { set: buried, list: deletedPlace(buried) ?? null },
        // Fails if the person joined another workspace or changed their passkeys in the meantime; these would never end.
        {
          where: {
            status: 'active',
            joins: user.joins ?? missing,
            passkeys: user.passkeys ?? missing,
            home_workspace_id: user.home_workspace_id,
          },
        },
      ),
      IdentityEntity.delete(user, { where: { user_id: either(missing, oneOf(user.id)) } }),
      BotChatEntity.delete(user),
      PersonMailEntity.delete({ user_id: id }),
      ...(await telegramRemovalWrites(work, user)),
      ...passkeys.map((passkey) => removePasskeyWrite(user.id, passkey.id)),
      SessionEntity.delete(session),
      ...(await wakePagesWrites(work, session)),
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
  name: DELETED_NAME,
  identity: `deleted:${id}`,
  locale: 'en',
  time_zone: 'UTC',
  status: 'deleted',
  home_workspace_id: '',
  created_at,
  joins: undefined,
  passkeys: undefined,
  handle: undefined,
  sessions_ended: undefined,
  deleted_at: clock.now(),
})

/** Returns the writes that leave one workspace. */
const leavingWrites = async (work: Work, { workspace, member }: Belonging): Promise<Write[] | 'last owner'> => {
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
  // Fails if the deletion is cancelled at the same moment. The workspace would then continue without an owner.
  if (workspace.status === 'deleting') {
    return [...ended, WorkspaceEntity.check({ id: workspace_id }, { where: { status: 'deleting' } })]
  }
  if (await isAlone(work, member)) {
    return [...ended, ...deletionWrites(work, workspace, user_id, { joined_at: workspace.joined_at ?? missing })]
  }
  if (role !== 'owner') return ended
  const other = await findAnotherOwner(work, member)
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
    message: 'You are the last owner of a workspace with other members.',
    fix: 'For each workspace in details.workspaces, make another member an owner (PATCH /console/members/{id}) or delete the workspace (DELETE /console/workspace), then try again.',
    details: { workspaces: workspaces.map(({ id, name }) => ({ id, name })) },
  })

const tooMany = (): PlatformError =>
  fail('conflict', {
    message: 'You are in too many workspaces to leave all of them at once.',
    fix: 'Leave some workspaces first with DELETE /console/workspace/membership, or delete those without other members with DELETE /console/workspace.',
  })
