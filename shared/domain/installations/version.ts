import { type App, type Version, VersionEntity } from '../../entities/apps.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'

/**
 * The version that a new installation gets: the promoted one; in a sandbox workspace, while nothing is promoted, the
 * newest, so that a developer can try the whole consent before moderation.
 * @throws `no_manifest`
 */
export const installableVersion = async (
  { table }: Pick<Deps, 'table'>,
  app: App,
  workspace: Pick<Workspace, 'is_sandbox'>,
): Promise<Version> => {
  const id = app.promoted_version_id ?? (workspace.is_sandbox ? app.newest_version_id : undefined)
  const version = id === undefined ? undefined : await table.get(VersionEntity, { app_id: app.id, id })
  if (!version) {
    throw fail('no_manifest', {
      message: 'The app has no published version, so there is nothing to install yet.',
      fix: 'Ask the app’s developer to publish one.',
    })
  }
  return version
}

/** What an installation repeats of the version that it is bound to. */
export const attached = ({ agent_id, version, id, required_settings }: Version) => ({
  agent_id,
  version,
  version_id: id,
  required_settings,
})
