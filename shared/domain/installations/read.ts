import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

/** What is installed in a workspace, newest first. What was uninstalled is left out, so a page may hold fewer than its limit. */
export const listInstallations = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Installation>> => {
  const { items, next } = await table.query(InstallationEntity, { workspace_id: workspaceId }, options)
  return { items: items.filter(({ status }) => status !== 'revoked'), next }
}
