import * as z from 'zod'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { loadManifest, VersionEntity } from '#shared/catalogue/versions/index.ts'
import { issueToken, verifyToken } from '#shared/foundation/tokens/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { type Member, suspended, type Workspace } from '#shared/identity/people/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { type Installation, InstallationEntity } from './entity.ts'
import { hasConsent } from './scopes.ts'

/** Response of `POST /console/installations/{id}/surface-token`. */
export const SurfaceTokenSchema = () =>
  z
    .object({
      token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Lifetime in seconds.', example: 300 }),
      url: z
        .string()
        .nullable()
        .meta({ description: 'The page to show, from the attached manifest’s `surface`; null if it has none.' }),
    })
    .meta({ id: 'SurfaceToken' })

export type SurfaceTokenView = z.infer<ReturnType<typeof SurfaceTokenSchema>>

/**
 * Loads the installation whose page a person of the workspace wants to see, and its app.
 * @throws `not_found` also for an uninstalled app; `app_suspended`, `installation_suspended`, `access_withdrawn`
 */
const loadShowable = async (
  { table }: Pick<Deps, 'table'>,
  { id: workspace_id, status }: Workspace,
  id: string,
): Promise<{ installation: Installation; app: App }> => {
  const installation = await table.get(InstallationEntity, { workspace_id, id })
  const app = installation && (await table.get(AppEntity, { id: installation.app_id }))
  if (!app || installation.status === 'revoked') throw fail('not_found', { message: 'Installation not found.' })
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended' || status !== 'active') throw suspended({ status })
  if (!hasConsent(installation)) throw fail('access_withdrawn')
  return { installation, app }
}

/**
 * Issues a token of 5 minutes for the agent's page in an iframe. It reads what the installation may read and the person
 * may see, while they are a member, and writes nothing (contract/oauth-and-tokens.md#surface-tokens). Nothing is stored.
 * @throws see {@link loadShowable}
 */
export const issueSurfaceToken = async (
  work: Work,
  workspace: Workspace,
  { user_id, joined_at }: Member,
  installationId: string,
): Promise<SurfaceTokenView> => {
  const { installation, app } = await loadShowable(work, workspace, installationId)
  const [{ token, expires_in }, url] = await Promise.all([
    issueToken(work, 'surface', {
      ins: installation.id,
      ws: workspace.id,
      app: app.id,
      usr: user_id,
      mem: joined_at,
      sv: app.secret_version,
    }),
    loadSurfaceUrl(work, installation),
  ])
  return { token, token_type: 'Bearer', expires_in, url }
}

/**
 * Reports whether a response kept under an Idempotency-Key may be repeated: only while its token works. Otherwise the
 * repeated request gets a working token, or the reason that there is none.
 */
export const isSurfaceTokenValid = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings' | 'keys'>,
  workspace: Workspace,
  { joined_at }: Member,
  kept: { body: string },
): Promise<boolean> => {
  const { token } = JSON.parse(kept.body) as { token?: string }
  const verified = token === undefined ? undefined : await verifyToken(deps, token, ['surface'])
  if (verified?.kind !== 'surface' || verified.claims.mem !== joined_at) return false
  try {
    const { app } = await loadShowable(deps, workspace, verified.claims.ins)
    return app.secret_version === verified.claims.sv
  } catch (error) {
    if (error instanceof PlatformError) return false
    throw error
  }
}

const loadSurfaceUrl = async (work: Work, { app_id, version_id }: Installation): Promise<string | null> => {
  const version = await work.table.get(VersionEntity, { app_id, id: version_id })
  return (version && (await loadManifest(work, version)).surface?.url) ?? null
}
