import * as z from 'zod'
import type { App } from '#shared/catalogue/apps/index.ts'
import { logoPath, logoPathField } from '#shared/catalogue/logos/index.ts'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { intersect } from '#shared/kernel/scopes.ts'
import type { Installation } from '../installations/entity.ts'
import type { Grant } from './entity.ts'

/** An app's grant as people of the workspace see it (contract/oauth-and-tokens.md#grants). */
export const GrantSchema = () =>
  z
    .object({
      id: idField('grt'),
      kind: z.literal('app'),
      app: z.object({
        id: idField('app'),
        name: z.string(),
        slug: z.string(),
        logo_url: z.string().nullable(),
        logo_path: logoPathField(),
        verified: z.boolean().meta({ description: 'The platform verified the developer.' }),
      }),
      installation_id: idField('ins'),
      scopes: z.array(z.string()).meta({ description: 'Scopes of its access tokens, before bans.' }),
      approved_by: z.object({ id: idField('usr'), name: z.string() }).nullable(),
      created_at: time(),
      last_used_at: time().nullable().meta({ description: 'When tokens were last issued from it; null if none were.' }),
      paused_at: time().nullable().meta({ description: 'When an admin paused it; null if it isn’t paused.' }),
    })
    .meta({ id: 'Grant' })

export type GrantView = z.infer<ReturnType<typeof GrantSchema>>

export const presentGrant = (grant: Grant, installation: Installation, app: App): GrantView => ({
  id: grant.id,
  kind: 'app',
  app: {
    id: app.id,
    name: app.name,
    slug: app.slug,
    logo_url: app.logo_url ?? null,
    logo_path: logoPath(app),
    verified: app.verified,
  },
  installation_id: installation.id,
  scopes: intersect(grant.scopes, installation.scopes),
  approved_by: grant.approved_by ?? null,
  created_at: iso(grant.created_at),
  last_used_at: grant.last_used_at === undefined ? null : iso(grant.last_used_at),
  paused_at: grant.paused_at === undefined ? null : iso(grant.paused_at),
})
