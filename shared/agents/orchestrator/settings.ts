import * as z from 'zod'
import { type Identity, identityFrom, identityKey, identityRef } from '#shared/access/orchestrator/index.ts'
import { requireAllowedAddresses, webAddress } from '#shared/catalogue/apps/index.ts'
import { logoFetchWrites, logoPathField, PLATFORM_LOGO, platformLogoPath } from '#shared/catalogue/logos/index.ts'
import { line, name } from '#shared/foundation/schemas/index.ts'
import { deniedTools } from '#shared/foundation/tools/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { PlatformIdentityEntity, PlatformSettingsEntity } from '#shared/staff/platform/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { bannedTools, bansRef } from '../tools/permission.ts'

/** `PUT /admin/settings/denied-tools` (contract/admin.md#platform-settings). */
export const DeniedTools = () =>
  z
    .strictObject({
      denied_tools: deniedTools().meta({ description: 'Platform tools that no agent may call.' }),
    })
    .meta({ id: 'DeniedTools' })

/** `PUT /admin/settings/pm-identity`. */
export const PmIdentity = () =>
  z
    .strictObject({
      name: name(80).meta({ example: 'Ada' }),
      logo: webAddress().nullable().optional().meta({ description: 'Address of an image.' }),
      logo_url: webAddress().nullable().optional().meta({ description: 'Another name of `logo`. Send one of them.' }),
      policy: line(8_000).nullable().default(null).meta({
        description:
          'A behavior rule added to the orchestrator’s system prompt. It doesn’t change the format of its answers.',
        example: 'Be brief. Prices are given with VAT.',
      }),
    })
    .refine(({ logo, logo_url }) => logo === undefined || logo_url === undefined || logo === logo_url, {
      path: ['logo_url'],
      message: 'is another name of logo; send one of them',
    })
    .meta({ id: 'PmIdentity' })

/** `GET /admin/settings`. */
export const PlatformSettingsSchema = () =>
  z
    .object({
      denied_tools: z.array(z.string()),
      pm_identity: z
        .object({
          name: z.string(),
          logo: z.string().nullable(),
          logo_url: z.string().nullable().meta({ description: 'The same as `logo`.' }),
          logo_path: logoPathField(),
          policy: z.string().nullable(),
        })
        .meta({ description: 'The orchestrator’s name, logo and policy.' }),
    })
    .meta({ id: 'PlatformSettings' })

type SettingsView = z.infer<ReturnType<typeof PlatformSettingsSchema>>

const shown = (identity: Identity): SettingsView['pm_identity'] => ({
  name: identity.name,
  logo: identity.logo_url ?? null,
  logo_url: identity.logo_url ?? null,
  logo_path: platformLogoPath(identity),
  policy: identity.policy ?? null,
})

const load = ({ table }: Pick<Deps, 'table'>) => table.getAll([bansRef, identityRef] as const)

export const loadPlatformSettings = async (deps: Pick<Deps, 'table'>): Promise<SettingsView> => {
  const [bans, identity] = await load(deps)
  return { denied_tools: [...bannedTools(bans)], pm_identity: shown(identityFrom(identity)) }
}

/** Bans tools for every agent, from the next call on. Does nothing when the list is unchanged. */
export const setDeniedTools = (
  work: Work,
  moderator: Moderator,
  { denied_tools }: z.infer<ReturnType<typeof DeniedTools>>,
): Promise<SettingsView> =>
  retryOnConflict(async () => {
    const [bans, identity] = await load(work)
    const before = [...bannedTools(bans)]
    const view = { denied_tools, pm_identity: shown(identityFrom(identity)) }
    if (JSON.stringify(before) === JSON.stringify(denied_tools)) return view
    await work.commit(
      [
        PlatformSettingsEntity.replace(
          { name: 'tools', denied_tools, updated_at: work.clock.now() },
          { where: { denied_tools: bans?.denied_tools ?? missing } },
        ),
        auditAdmin(
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
 * Sets the orchestrator's name, logo and policy from its next turn on.
 * @throws `blocked_target` for a forbidden logo address
 */
export const setPmIdentity = (
  work: Work,
  moderator: Moderator,
  { name, logo, logo_url: alias, policy }: z.infer<ReturnType<typeof PmIdentity>>,
): Promise<SettingsView> => {
  const logo_url = logo ?? alias
  requireAllowedAddresses(work, { [logo === undefined ? 'logo_url' : 'logo']: logo_url })
  return retryOnConflict(async () => {
    const [bans, identity] = await load(work)
    const before = shown(identityFrom(identity))
    const after = shown({ name, logo_url: logo_url ?? undefined, logo: identity?.logo, policy: policy ?? undefined })
    const view = { denied_tools: [...bannedTools(bans)], pm_identity: after }
    if (identity && JSON.stringify(before) === JSON.stringify(after)) return view
    await work.commit(
      [
        PlatformIdentityEntity.replace(
          {
            ...identityKey,
            display_name: name,
            logo_url: logo_url ?? undefined,
            logo: identity?.logo,
            policy: policy ?? undefined,
            updated_at: work.clock.now(),
          },
          { where: { updated_at: identity?.updated_at ?? missing, display_name: identity?.display_name ?? missing } },
        ),
        ...(typeof logo_url === 'string' && identity?.logo?.url !== logo_url
          ? await logoFetchWrites(work, PLATFORM_LOGO)
          : []),
        auditAdmin(
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
