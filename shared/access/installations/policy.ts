import * as z from 'zod'
import { deniedTools } from '#shared/foundation/tools/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Installation, InstallationEntity } from './entity.ts'
import { type InstallationView, presentInstallation } from './present.ts'

const SLUG = /^[a-z0-9](?:[a-z0-9-]{1,38})[a-z0-9]$/

/** Most callers in a policy. */
const MOST_CALLERS = 200

/** Body of `PUT /console/installations/{id}/policy` (contract/installations.md#policy). */
export const InstallationPolicy = () =>
  z
    .strictObject({
      allowed_callers: z
        .array(
          z
            .string()
            .refine(
              (caller) => SLUG.test(caller) || isId('installation', caller),
              'must be a slug or an installation id',
            ),
        )
        .max(MOST_CALLERS)
        .nullable()
        .optional()
        .meta({
          description:
            'Agents that may call this one, by slug or installation id, which is kept as the slug. Null allows all, an ' +
            'empty array none.',
          example: ['stock-helper'],
        }),
      denied_tools: deniedTools().optional().meta({ description: 'Platform tools that this agent may not call.' }),
    })
    .meta({ id: 'InstallationPolicy' })

export type PolicyChanges = z.infer<ReturnType<typeof InstallationPolicy>>

type Policy = Pick<Installation, 'allowed_callers' | 'denied_tools'>

/**
 * Returns callers by slug. An installation's id ends with the installation, but the owner means the app.
 * @throws `validation_error` for an id that never was one of the workspace
 */
const callersBySlug = async (
  { table }: Pick<Work, 'table'>,
  workspace_id: string,
  callers: readonly string[],
): Promise<string[]> => {
  const ids = callers.filter((caller) => isId('installation', caller))
  const installations = await table.getAll(ids.map((id) => InstallationEntity.ref({ workspace_id, id })))
  const slugs = new Map(installations.flatMap((one) => (one ? [[one.id, one.app_slug] as const] : [])))
  const unknown = ids.filter((id) => !slugs.has(id))
  if (unknown.length > 0) {
    throw fail('validation_error', {
      message: `${unknown.join(', ')} isn’t an agent of this workspace.`,
      details: { fields: { allowed_callers: ['names agents that the workspace doesn’t have'] } },
    })
  }
  return [...new Set(callers.map((caller) => slugs.get(caller) ?? caller))]
}

/**
 * Updates the policy of an installation's owner; omitted fields stay (contract/installations.md#policy). Changes apply to
 * the next call, and to the app's later installations.
 * @throws `not_found` also for another workspace's installation and for an uninstalled app; `validation_error`
 */
export const setPolicy = (
  work: Work,
  by: { workspaceId: string; userId: string },
  id: string,
  { allowed_callers, denied_tools }: PolicyChanges,
): Promise<InstallationView> =>
  retryOnConflict(async () => {
    const current = await work.table.get(InstallationEntity, { workspace_id: by.workspaceId, id })
    if (!current || current.status === 'revoked') {
      throw fail('not_found', { message: 'Installation not found.' })
    }
    const before: Policy = { allowed_callers: current.allowed_callers, denied_tools: current.denied_tools }
    const keptOrNone = allowed_callers === undefined ? before.allowed_callers : null
    const after: Policy = {
      allowed_callers: allowed_callers ? await callersBySlug(work, by.workspaceId, allowed_callers) : keptOrNone,
      denied_tools: denied_tools ?? before.denied_tools,
    }
    if (JSON.stringify(before) === JSON.stringify(after)) return presentInstallation(current)
    const set = { ...after, updated_at: work.clock.now() }
    const view = presentInstallation({ ...current, ...set })
    await work.commit(
      [
        InstallationEntity.update(
          current,
          { set },
          { where: { updated_at: current.updated_at, status: current.status, ...before } },
        ),
        auditPerson(work, by, 'installation.policy_changed', { type: 'installation', id }, { before, after }),
      ],
      view,
    )
    return view
  })
