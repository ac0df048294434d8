import { MemberEntity, SessionEntity, UserEntity, WorkspaceEntity } from '../../entities/people.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { tokenOf, unauthorized } from '../principal.ts'
import { limit } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** A person's console session. */
export const consoleUser: Authenticator<'console'> = async (deps, { headers, method }) => {
  const token = await tokenOf(deps, headers, method, ['console'])
  if (token.kind !== 'console') throw unauthorized('A console token is needed.')
  const { ses, usr, ws } = token.claims
  const [records, rateHeaders] = await Promise.all([
    deps.table.getAll([
      { entity: SessionEntity, key: SessionEntity.key({ id: ses }) },
      { entity: UserEntity, key: UserEntity.key({ id: usr }) },
      { entity: MemberEntity, key: MemberEntity.key({ workspace_id: ws, user_id: usr }) },
      { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: ws }) },
    ]),
    limit(deps, [{ name: `user:${usr}`, rate: LIMITS.callerRate, scope: 'user' }]),
  ])
  const [session, user, member, workspace] = records
  const live = session && session.expires_at > deps.clock.now() && user?.status === 'active' && member && workspace
  if (!live) throw unauthorized('The session has ended.', 'Sign in again.')
  return { caller: { kind: 'console', session, user, member, workspace }, headers: rateHeaders }
}
