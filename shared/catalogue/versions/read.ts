import { cutPageToResponseSize, payloadBytes } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import type { App } from '../apps/entity.ts'
import { type Version, VersionEntity, VersionNameEntity } from './entity.ts'

type Reading = Pick<Deps, 'table'>

/** Longest version string of a manifest. Longer ones aren't looked up. */
const MAX_NAME = 64

/** Lists an app's versions, newest first. A page ends early if its manifests would not fit into one response. */
export const listVersions = async (
  { table }: Reading,
  app: App,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Version>> => {
  const page = await table.query(VersionEntity, { app_id: app.id }, options)
  return cutPageToResponseSize(
    page,
    ({ manifest }) => payloadBytes(manifest),
    (version) => VersionEntity.key(version).sk,
  )
}

/** Finds an app's version by its version string. @throws `not_found` */
export const findVersionByName = async ({ table }: Reading, app: App, name: string): Promise<Version> => {
  const named =
    name.length <= MAX_NAME ? await table.get(VersionNameEntity, { app_id: app.id, version: name }) : undefined
  const version = named && (await table.get(VersionEntity, { app_id: app.id, id: named.version_id }))
  if (!version)
    throw fail('not_found', { message: `The app has no version ${JSON.stringify(name.slice(0, MAX_NAME))}.` })
  return version
}

/** Loads the version that was published last. @throws `no_manifest` */
export const loadNewestVersion = async ({ table }: Reading, app: App): Promise<Version> => {
  const version =
    app.newest_version_id === undefined
      ? undefined
      : await table.get(VersionEntity, { app_id: app.id, id: app.newest_version_id })
  if (!version) throw fail('no_manifest')
  return version
}
