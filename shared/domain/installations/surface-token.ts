import * as z from 'zod'
import { type App, AppEntity, VersionEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail, PlatformError } from '../../kernel/errors.ts'
import type { Deps, Work } from '../deps.ts'
import { issueToken, verifyToken } from '../tokens/tokens.ts'
import { loadManifest } from '../versions/manifest.ts'

/** `POST /console/installations/{id}/surface-token`. */
export const SurfaceTokenSchema = () =>
  z
    .object({
      token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Seconds.', example: 300 }),
      url: z
        .string()
        .nullable()
        .meta({ description: 'The page to show, from the attached manifest’s `surface`; null if it has none.' }),
    })
    .meta({ id: 'SurfaceToken' })

export type SurfaceTokenView = z.infer<ReturnType<typeof SurfaceTokenSchema>>

/**
 * The installation whose page a person of the workspace wants to see, and its app.
 * @throws `not_found` also for what was uninstalled; `app_suspended`, `installation_suspended`
 */
const showable = async (
  { table }: Pick<Deps, 'table'>,
  { id: workspace_id, status }: Workspace,
  id: string,
): Promise<{ installation: Installation; app: App }> => {
  const installation = await table.get(InstallationEntity, { workspace_id, id })
  const app = installation && (await table.get(AppEntity, { id: installation.app_id }))
  if (!app || installation.status === 'revoked') throw fail('not_found', { message: 'There is no such installation.' })
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended' || status !== 'active') throw fail('installation_suspended')
  return { installation, app }
}

/**
 * A token of 5 minutes for the agent's page in an iframe: it reads what the installation may read and the person may see, for
 * as long as they are a member, and writes nothing (specification "Authentication", rule 8). Nothing is stored of it.
 * @throws see {@link showable}
 */
export const issueSurfaceToken = async (
  work: Work,
  workspace: Workspace,
  userId: string,
  installationId: string,
): Promise<SurfaceTokenView> => {
  const { installation, app } = await showable(work, workspace, installationId)
  const [{ token, expires_in }, url] = await Promise.all([
    issueToken(work, 'surface', {
      ins: installation.id,
      ws: workspace.id,
      app: app.id,
      usr: userId,
      sv: app.secret_version,
    }),
    surfaceOf(work, installation),
  ])
  return { token, token_type: 'Bearer', expires_in, url }
}

/**
 * May an answer kept under an Idempotency-Key be given again? Only while its token works: whoever sends the request again
 * is then to get one that does, or to hear why not.
 */
export const surfaceTokenStillWorks = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings' | 'keys'>,
  workspace: Workspace,
  kept: { body: string },
): Promise<boolean> => {
  const { token } = JSON.parse(kept.body) as { token?: string }
  const verified = token === undefined ? undefined : await verifyToken(deps, token, ['surface'])
  if (verified?.kind !== 'surface') return false
  try {
    const { app } = await showable(deps, workspace, verified.claims.ins)
    return app.secret_version === verified.claims.sv
  } catch (error) {
    if (error instanceof PlatformError) return false
    throw error
  }
}

const surfaceOf = async (work: Work, { app_id, version_id }: Installation): Promise<string | null> => {
  const version = await work.table.get(VersionEntity, { app_id, id: version_id })
  return (version && (await loadManifest(work, version)).surface?.url) ?? null
}
