import * as z from 'zod'
import type { App } from '../../entities/apps.ts'
import type { Grant, Installation } from '../../entities/installations.ts'
import { iso } from '../../kernel/clock.ts'
import { intersect } from '../../kernel/scopes.ts'
import { idField, time } from '../fields.ts'

/** What a workspace granted to an app, as its people see it (decisions §2). */
export const GrantSchema = () =>
  z
    .object({
      id: idField('grt'),
      app: z.object({
        id: idField('app'),
        name: z.string(),
        slug: z.string(),
        logo_url: z.string().nullable(),
        verified: z.boolean().meta({ description: 'The platform’s staff checked who the developer is.' }),
      }),
      installation_id: idField('ins'),
      scopes: z
        .array(z.string())
        .meta({ description: 'What its tokens may do now: the grant, cut down to the installation’s latest consent.' }),
      approved_by: z.object({ id: idField('usr'), name: z.string() }).nullable(),
      created_at: time(),
      last_used_at: time()
        .nullable()
        .meta({ description: 'When tokens were last issued from it; null while the app fetched none.' }),
    })
    .meta({ id: 'Grant' })

export type GrantView = z.infer<ReturnType<typeof GrantSchema>>

export const presentGrant = (grant: Grant, installation: Installation, app: App): GrantView => ({
  id: grant.id,
  app: { id: app.id, name: app.name, slug: app.slug, logo_url: app.logo_url ?? null, verified: app.verified },
  installation_id: installation.id,
  scopes: intersect(grant.scopes, installation.scopes),
  approved_by: grant.approved_by ?? null,
  created_at: iso(grant.created_at),
  last_used_at: grant.last_used_at === undefined ? null : iso(grant.last_used_at),
})
