import * as z from 'zod'
import { type Developer, DeveloperEntity, DeveloperKeyEntity } from '../../entities/developers.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { idField } from '../fields.ts'
import { placeOfDeveloper, rosterWrites } from '../roster/places.ts'
import { tryAgain } from '../try-again.ts'
import { badgeWrites } from '../verification/badge.ts'
import { presentDeveloper } from './present.ts'
import { DeveloperSchema } from './schemas.ts'

/** A developer account as the platform's staff sees it. */
export const ModeratedDeveloperSchema = () =>
  DeveloperSchema()
    .extend({
      status_reason: z.string().nullable().meta({ description: 'Why it is blocked.' }),
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
 * `POST /admin/developers/{id}/verify`: the badge of the account and of its apps. For one that has it, it changes nothing.
 * @throws `not_found`
 */
export const verifyDeveloper = (work: Work, moderator: Moderator, id: string): Promise<ModeratedDeveloperView> =>
  tryAgain(async () => {
    const developer = await load(work, id)
    const view = presentModeratedDeveloper({ ...developer, verified: true })
    if (developer.verified) return view
    await work.commit(
      [
        ...(await badgeWrites(work, developer, true)),
        auditStaff(
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

/**
 * `POST /admin/developers/{id}/block`: its key is refused with `not_a_developer` from the next request on. Its apps and their
 * installations go on; what they do is stopped by suspending them.
 * @throws `not_found`; `conflict` for one that is blocked
 */
export const blockDeveloper = (work: Work, moderator: Moderator, id: string, reason: string) =>
  setStatus(work, moderator, id, { from: 'active', to: 'blocked', action: 'developer.blocked', reason })

/** `POST /admin/developers/{id}/unblock`: its key works again. @throws `not_found`; `conflict` for one that is not blocked */
export const unblockDeveloper = (work: Work, moderator: Moderator, id: string) =>
  setStatus(work, moderator, id, { from: 'blocked', to: 'active', action: 'developer.unblocked' })

type Status = Developer['status']

const setStatus = (
  work: Work,
  moderator: Moderator,
  id: string,
  { from, to, action, reason }: { from: Status; to: Status; action: string; reason?: string },
): Promise<ModeratedDeveloperView> =>
  tryAgain(async () => {
    const developer = await load(work, id)
    if (developer.status !== from) {
      throw fail('conflict', {
        message: `The developer is ${developer.status} already.`,
        fix: 'There is nothing to do.',
      })
    }
    const view = presentModeratedDeveloper({ ...developer, status: to, status_reason: reason })
    await work.commit(
      [
        ...changed(developer, { status: to, status_reason: reason }),
        // Authentication reads the key alone.
        DeveloperKeyEntity.update(
          { key_hash: developer.key_hash },
          { set: { status: to } },
          { where: { status: from } },
        ),
        auditStaff(
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
  const { id, status, verified, key_hash } = developer
  return [
    DeveloperEntity.update({ id }, { set }, { where: { status, verified, key_hash } }),
    ...rosterWrites(placeOfDeveloper(developer), placeOfDeveloper({ ...developer, ...set })),
  ]
}

const load = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Developer> => {
  const developer = await table.get(DeveloperEntity, { id })
  if (!developer) throw fail('not_found', { message: 'There is no such developer.' })
  return developer
}
