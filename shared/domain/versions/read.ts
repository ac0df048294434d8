import { type App, type Version, VersionEntity, VersionNameEntity } from '../../entities/apps.ts'
import { fail } from '../../kernel/errors.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { fittingPage, payloadBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'

type Reading = Pick<Deps, 'table'>

/** The longest version string that a manifest may have; longer ones are not looked up. */
const MAX_NAME = 64

/** An app's versions, newest first. A page ends early where its manifests would not fit into one answer. */
export const listVersions = async (
  { table }: Reading,
  app: App,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Version>> => {
  const page = await table.query(VersionEntity, { app_id: app.id }, options)
  return fittingPage(
    page,
    ({ manifest }) => payloadBytes(manifest),
    (version) => VersionEntity.key(version).sk,
  )
}

/** An app's version by its version string. @throws `not_found` */
export const versionByName = async ({ table }: Reading, app: App, name: string): Promise<Version> => {
  const named =
    name.length <= MAX_NAME ? await table.get(VersionNameEntity, { app_id: app.id, version: name }) : undefined
  const version = named && (await table.get(VersionEntity, { app_id: app.id, id: named.version_id }))
  if (!version) throw fail('not_found', { message: 'The app has no such version.' })
  return version
}

/** The version that was published last. @throws `no_manifest` */
export const newestVersion = async ({ table }: Reading, app: App): Promise<Version> => {
  const version =
    app.newest_version_id === undefined
      ? undefined
      : await table.get(VersionEntity, { app_id: app.id, id: app.newest_version_id })
  if (!version) throw fail('no_manifest')
  return version
}
