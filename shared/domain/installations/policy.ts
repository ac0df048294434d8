import * as z from 'zod'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { deniedTools } from '../tools/denied-tools.ts'
import { tryAgain } from '../try-again.ts'
import { type InstallationView, presentInstallation } from './present.ts'

const SLUG = /^[a-z0-9](?:[a-z0-9-]{1,38})[a-z0-9]$/

/** Callers that a policy names at most. */
const MOST_CALLERS = 200

/** `PUT /console/installations/{id}/policy` (specification "Installation policy"). */
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
        .transform((callers) => [...new Set(callers)])
        .nullable()
        .optional()
        .meta({
          description:
            'The agents that may call this one, by slug or installation id; null for all, an empty array for none.',
          example: ['stock-helper'],
        }),
      denied_tools: deniedTools().optional().meta({ description: 'Platform tools that this agent may not call.' }),
    })
    .meta({ id: 'InstallationPolicy' })

export type PolicyChanges = z.infer<ReturnType<typeof InstallationPolicy>>

type Policy = Pick<Installation, 'allowed_callers' | 'denied_tools'>

/**
 * Sets what an installation's owner allows; a field that is not given stays (decisions §8). Holds from the next call on.
 * @throws `not_found` also for another workspace's, and for what was uninstalled
 */
export const setPolicy = (
  work: Work,
  by: { workspaceId: string; userId: string },
  id: string,
  { allowed_callers, denied_tools }: PolicyChanges,
): Promise<InstallationView> =>
  tryAgain(async () => {
    const current = await work.table.get(InstallationEntity, { workspace_id: by.workspaceId, id })
    if (!current || current.status === 'revoked') {
      throw fail('not_found', { message: 'There is no such installation.' })
    }
    const before: Policy = { allowed_callers: current.allowed_callers, denied_tools: current.denied_tools }
    const after: Policy = {
      allowed_callers: allowed_callers === undefined ? before.allowed_callers : allowed_callers,
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
