import * as z from 'zod'
import { PlatformIdentityEntity, PlatformSettingsEntity } from '../../entities/platform.ts'
import { missing } from '../../table/expressions.ts'
import type { Moderator } from '../admins/actor.ts'
import { refuseForbidden, webAddress } from '../apps/addresses.ts'
import { auditStaff } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { line } from '../fields.ts'
import { deniedTools } from '../tools/denied-tools.ts'
import { bansIn, bansRef } from '../tools/permission.ts'
import { tryAgain } from '../try-again.ts'
import { type Identity, identityIn, identityKey, identityRef } from './identity.ts'

/** `PUT /admin/settings/denied-tools` (decisions §8). */
export const DeniedTools = () =>
  z
    .strictObject({
      denied_tools: deniedTools().meta({ description: 'Platform tools that no agent anywhere may call.' }),
    })
    .meta({ id: 'DeniedTools' })

/** `PUT /admin/settings/pm-identity`. */
export const PmIdentity = () =>
  z
    .strictObject({
      name: line(80).meta({ example: 'Ada' }),
      logo_url: webAddress().nullable().default(null),
      policy: line(8_000).nullable().default(null).meta({
        description:
          'A rule of behaviour that is added to the orchestrator’s system prompt. It does not change the form of its answers.',
        example: 'Be brief. Prices are given with VAT.',
      }),
    })
    .meta({ id: 'PmIdentity' })

/** `GET /admin/settings`. */
export const PlatformSettingsSchema = () =>
  z
    .object({
      denied_tools: z.array(z.string()),
      pm_identity: z
        .object({ name: z.string(), logo_url: z.string().nullable(), policy: z.string().nullable() })
        .meta({ description: 'As whom the orchestrator speaks.' }),
    })
    .meta({ id: 'PlatformSettings' })

type SettingsView = z.infer<ReturnType<typeof PlatformSettingsSchema>>

const shown = ({ name, logo_url, policy }: Identity): SettingsView['pm_identity'] => ({
  name,
  logo_url: logo_url ?? null,
  policy: policy ?? null,
})

const load = ({ table }: Pick<Deps, 'table'>) => table.getAll([bansRef, identityRef] as const)

export const readPlatformSettings = async (deps: Pick<Deps, 'table'>): Promise<SettingsView> => {
  const [bans, identity] = await load(deps)
  return { denied_tools: [...bansIn(bans)], pm_identity: shown(identityIn(identity)) }
}

/** Bans tools for everybody; in force from the next call on. What is the same already changes nothing. */
export const setDeniedTools = (
  work: Work,
  moderator: Moderator,
  { denied_tools }: z.infer<ReturnType<typeof DeniedTools>>,
): Promise<SettingsView> =>
  tryAgain(async () => {
    const [bans, identity] = await load(work)
    const before = [...bansIn(bans)]
    const view = { denied_tools, pm_identity: shown(identityIn(identity)) }
    if (JSON.stringify(before) === JSON.stringify(denied_tools)) return view
    await work.commit(
      [
        PlatformSettingsEntity.replace(
          { name: 'tools', denied_tools, updated_at: work.clock.now() },
          { where: { denied_tools: bans?.denied_tools ?? missing } },
        ),
        auditStaff(
          work,
          moderator,
          'platform.denied_tools_changed',
          { type: 'platform', id: 'denied-tools' },
          { before, after: denied_tools },
        ),
      ],
      view,
    )
    return view
  })

/**
 * Says as whom the orchestrator speaks, from its next turn on.
 * @throws `blocked_target` for a forbidden logo address
 */
export const setPmIdentity = (
  work: Work,
  moderator: Moderator,
  { name, logo_url, policy }: z.infer<ReturnType<typeof PmIdentity>>,
): Promise<SettingsView> => {
  refuseForbidden(work, { logo_url })
  return tryAgain(async () => {
    const [bans, identity] = await load(work)
    const before = shown(identityIn(identity))
    const after = { name, logo_url, policy }
    const view = { denied_tools: [...bansIn(bans)], pm_identity: after }
    if (identity && JSON.stringify(before) === JSON.stringify(after)) return view
    await work.commit(
      [
        PlatformIdentityEntity.replace(
          {
            ...identityKey,
            display_name: name,
            logo_url: logo_url ?? undefined,
            policy: policy ?? undefined,
            updated_at: work.clock.now(),
          },
          { where: { updated_at: identity?.updated_at ?? missing, display_name: identity?.display_name ?? missing } },
        ),
        auditStaff(
          work,
          moderator,
          'platform.pm_identity_changed',
          { type: 'platform', id: 'pm-identity' },
          { before, after },
        ),
      ],
      view,
    )
    return view
  })
}
