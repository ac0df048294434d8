import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Installation, InstallationEntity } from './entity.ts'

type Reading = Pick<Deps, 'table'>

/** An installation and its app. */
export interface Installed {
  installation: Installation
  app: App
}

/** Lists a workspace's installations, newest first. Leaves out revoked ones, so a page may hold fewer than its limit. */
export const listInstallations = async (
  { table }: Reading,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Installed>> => {
  const { items, next } = await table.query(InstallationEntity, { workspace_id: workspaceId }, options)
  const present = items.filter(({ status }) => status !== 'revoked')
  const apps = await table.getAll(present.map(({ app_id }) => AppEntity.ref({ id: app_id })))
  const installed = present.flatMap((installation, i) => {
    const app = apps[i]
    return app ? [{ installation, app }] : []
  })
  return { items: installed, next }
}

/**
 * Loads one of a workspace's installations with its app.
 * @throws `not_found` also for another workspace's installation and for an uninstalled app
 */
export const loadInstalled = async ({ table }: Reading, workspace_id: string, id: string): Promise<Installed> => {
  const installation = await table.get(InstallationEntity, { workspace_id, id })
  const app =
    installation && installation.status !== 'revoked'
      ? await table.get(AppEntity, { id: installation.app_id })
      : undefined
  if (!installation || !app) throw installationNotFound()
  return { installation, app }
}

export const installationNotFound = (): PlatformError => fail('not_found', { message: 'Installation not found.' })
