import * as z from 'zod'
import { AppEntity, loadOwnApps } from '#shared/catalogue/apps/index.ts'
import { idField } from '#shared/foundation/schemas/index.ts'
import { type Deps, type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { DeveloperSchema, presentDeveloper, unchangedKeys } from '#shared/identity/developer-accounts/index.ts'
import {
  type Developer,
  DeveloperEntity,
  DeveloperKeyEntity,
  isPortalSession,
  liveKeys,
} from '#shared/identity/developers/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { type AuditAction, auditAdmin } from '#shared/staff/audit/index.ts'
import { placeOfDeveloper, rosterWrites } from '#shared/staff/roster/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { suspendApp } from '../review/decide.ts'
import { Reason } from '../review/schemas.ts'
import { badgeWrites } from '../verification/badge.ts'

/** A developer account as an admin sees it. */
export const ModeratedDeveloperSchema = () =>
  DeveloperSchema()
    .extend({
      status_reason: z.string().nullable().meta({ description: 'Why the account is blocked.' }),
      sandbox_workspace_id: idField('ws'),
    })
    .meta({ id: 'ModeratedDeveloper' })

export type ModeratedDeveloperView = z.infer<ReturnType<typeof ModeratedDeveloperSchema>>

export const presentModeratedDeveloper = (developer: Developer): ModeratedDeveloperView => ({
  ...presentDeveloper(developer),
  status_reason: developer.status_reason ?? null,
  sandbox_workspace_id: developer.sandbox_workspace_id,
})

/**
 * Handles `POST /admin/developers/{id}/verify`: gives the account and its apps the verified badge. Has no effect on a
 * verified account.
 * @throws `not_found`
 */
export const verifyDeveloper = (work: Work, moderator: Moderator, id: string): Promise<ModeratedDeveloperView> =>
  retryOnConflict(async () => {
    const developer = await load(work, id)
    const view = presentModeratedDeveloper({ ...developer, verified: true })
    if (developer.verified) return view
    await work.commit(
      [
        ...(await badgeWrites(work, developer, true)),
        auditAdmin(
          work,
          moderator,
          'developer.verified',
          { type: 'developer', id },
          { before: { verified: false }, after: { verified: true } },
        ),
      ],
      view,
    )
    return view
  })

/** Body of `POST /admin/developers/{id}/block`. */
export const BlockDeveloper = () =>
  Reason()
    .extend({
      installations: z
        .enum(['keep', 'suspend'])
        .default('keep')
        .meta({
          description:
            'Existing installations of the developer’s apps. `keep`: they keep working. `suspend`: all of the apps are ' +
            'suspended as well, in this call.',
        }),
    })
    .meta({ id: 'BlockDeveloper' })

/**
 * Handles `POST /admin/developers/{id}/block`: the developer's key is refused with `not_a_developer` from the next
 * request, and nobody can install their apps or consent to them. Existing installations keep working, unless the apps are
 * suspended in the same call (contract/moderation.md#suspension). If such a call dies half-way, repeating it completes it,
 * also for a developer who is blocked already.
 * @throws `not_found`; `conflict` if the developer is already blocked
 */
export const blockDeveloper = async (
  work: Work,
  moderator: Moderator,
  id: string,
  { reason, installations }: z.infer<ReturnType<typeof BlockDeveloper>>,
): Promise<ModeratedDeveloperView> => {
  if (installations === 'suspend') {
    await suspendApps(work, moderator, id, reason)
    const developer = await load(work, id)
    if (developer.status === 'blocked') return presentModeratedDeveloper(developer)
  }
  return setStatus(work, moderator, id, { from: 'active', to: 'blocked', action: 'developer.blocked', reason })
}

const suspendApps = async (work: Work, moderator: Moderator, id: string, reason: string): Promise<void> => {
  const { apps } = await loadOwnApps(work, id)
  for (const app of apps) {
    if (app.status !== 'suspended') await suspendApp(withoutAnswer(work), moderator, app.id, reason)
  }
}

/**
 * Handles `POST /admin/developers/{id}/unblock`: the developer's key works again, and their apps can be installed. Apps
 * that were suspended stay so.
 * @throws `not_found`; `conflict` if the developer is not blocked
 */
export const unblockDeveloper = (work: Work, moderator: Moderator, id: string) =>
  setStatus(work, moderator, id, { from: 'blocked', to: 'active', action: 'developer.unblocked' })

type Status = Developer['status']

const setStatus = (
  work: Work,
  moderator: Moderator,
  id: string,
  { from, to, action, reason }: { from: Status; to: Status; action: AuditAction; reason?: string },
): Promise<ModeratedDeveloperView> =>
  retryOnConflict(async () => {
    const developer = await load(work, id)
    if (developer.status !== from) {
      throw fail('conflict', {
        message: `The developer is already ${developer.status}.`,
        fix: 'No action is needed.',
      })
    }
    const view = presentModeratedDeveloper({ ...developer, status: to, status_reason: reason })
    const { apps, check } = await loadOwnApps(work, id)
    const developer_blocked = to === 'blocked' ? true : undefined
    await work.commit(
      [
        ...changed(developer, { status: to, status_reason: reason }),
        check,
        ...apps.map((app) => AppEntity.update({ id: app.id }, { set: { developer_blocked } })),
        // Authentication with a key reads only the key.
        ...[developer, ...liveKeys(developer, work.clock.now()).filter((key) => !isPortalSession(key))].map(
          ({ key_hash }) =>
            DeveloperKeyEntity.update({ key_hash }, { set: { status: to } }, { where: { status: from } }),
        ),
        auditAdmin(
          work,
          moderator,
          action,
          { type: 'developer', id },
          { before: { status: from }, after: { status: to }, ...(reason !== undefined && { reason }) },
        ),
      ],
      view,
    )
    return view
  })

const changed = (
  developer: Developer,
  set: Partial<Pick<Developer, 'status'>> & { status_reason?: string | undefined },
): Write[] => {
  const { id, status, verified } = developer
  return [
    DeveloperEntity.update({ id }, { set }, { where: { status, verified, ...unchangedKeys(developer) } }),
    ...rosterWrites(placeOfDeveloper(developer), placeOfDeveloper({ ...developer, ...set })),
  ]
}

const load = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Developer> => {
  const developer = await table.get(DeveloperEntity, { id })
  if (!developer) throw fail('not_found', { message: 'Developer not found.' })
  return developer
}
