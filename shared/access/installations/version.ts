import type { App } from '#shared/catalogue/apps/index.ts'
import { type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'

/**
 * Loads the version for a new installation: the promoted one. In a sandbox workspace it falls back to the newest, so that
 * a developer can try the whole consent before moderation.
 * @throws `no_manifest`
 */
export const loadInstallableVersion = async (
  { table }: Pick<Deps, 'table'>,
  app: App,
  workspace: Pick<Workspace, 'is_sandbox'>,
): Promise<Version> => {
  const id = app.promoted_version_id ?? (workspace.is_sandbox ? app.newest_version_id : undefined)
  const version = id === undefined ? undefined : await table.get(VersionEntity, { app_id: app.id, id })
  if (!version) {
    throw fail('no_manifest', {
      message: 'The app has no published version to install yet.',
      fix: 'Ask the app’s developer to publish one.',
    })
  }
  return version
}

/** Fields that an installation copies from its version. */
export const versionFields = ({ agent_id, version, id, required_settings }: Version) => ({
  agent_id,
  version,
  version_id: id,
  required_settings,
})
