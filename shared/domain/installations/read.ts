import { type App, AppEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

type Reading = Pick<Deps, 'table'>

/** An installation and the app that it is of. */
export interface Installed {
  installation: Installation
  app: App
}

/** What is installed in a workspace, newest first. What was uninstalled is left out, so a page may hold fewer than its limit. */
export const listInstallations = async (
  { table }: Reading,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Installed>> => {
  const { items, next } = await table.query(InstallationEntity, { workspace_id: workspaceId }, options)
  const present = items.filter(({ status }) => status !== 'revoked')
  const apps = await table.getAll(
    present.map(({ app_id }) => ({ entity: AppEntity, key: AppEntity.key({ id: app_id }) })),
  )
  const installed = present.flatMap((installation, i) => {
    const app = apps[i]
    return app ? [{ installation, app }] : []
  })
  return { items: installed, next }
}

/**
 * One of a workspace's installations with its app.
 * @throws `not_found` also for another workspace's, and for what was uninstalled
 */
export const installedApp = async ({ table }: Reading, workspace_id: string, id: string): Promise<Installed> => {
  const installation = await table.get(InstallationEntity, { workspace_id, id })
  const app =
    installation && installation.status !== 'revoked'
      ? await table.get(AppEntity, { id: installation.app_id })
      : undefined
  if (!installation || !app) throw noInstallation()
  return { installation, app }
}

export const noInstallation = (): PlatformError => fail('not_found', { message: 'There is no such installation.' })
