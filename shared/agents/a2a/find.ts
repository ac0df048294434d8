import {
  type Agent,
  type Installation,
  InstallationEntity,
  InstallationPlaceEntity,
  isWorking,
} from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadManifest, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'

/** An installed agent that A2A clients can find, with the manifest of its installed version. */
export interface A2aAgent extends Agent {
  manifest: Manifest
}

/**
 * Finds an agent by the id of its installation.
 * @param workspace workspace of the caller, the only one in which to look. Without it, the agent can be in any that is active
 * @throws `not_found` for an agent that doesn't work now, or that declares neither tools nor `a2a.messages`
 */
export const findA2aAgent = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  installation_id: string,
  workspace?: Workspace,
): Promise<A2aAgent> => {
  const { table } = deps
  const installation = workspace
    ? await table.get(InstallationEntity, { workspace_id: workspace.id, id: installation_id })
    : await findAnywhere(table, installation_id)
  if (!installation || !isWorking(installation)) throw noAgent()
  const { app_id, version_id } = installation
  const [app, version] = await table.getAll([
    AppEntity.ref({ id: app_id }),
    VersionEntity.ref({ app_id, id: version_id }),
  ] as const)
  if (!app || app.status === 'suspended' || !version) throw noAgent()
  const manifest = await loadManifest(deps, version)
  if (!takesA2a(manifest)) throw noAgent()
  return { installation, app, manifest }
}

const findAnywhere = async (table: Deps['table'], installation_id: string): Promise<Installation | undefined> => {
  const place = await table.get(InstallationPlaceEntity, { installation_id })
  if (!place) return undefined
  const [installation, home] = await table.getAll([
    InstallationEntity.ref({ workspace_id: place.workspace_id, id: installation_id }),
    WorkspaceEntity.ref({ id: place.workspace_id }),
  ] as const)
  return home?.status === 'active' ? installation : undefined
}

const takesA2a = ({ tools = [], a2a }: Manifest): boolean => tools.length > 0 || a2a?.messages === true

const noAgent = () => fail('not_found', { message: 'No A2A agent is installed under this id.' })
