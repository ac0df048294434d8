import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { isObject } from '#shared/kernel/json-schema/json-object.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import type { App } from '../apps/entity.ts'
import { loadOwnApp } from '../apps/read.ts'
import { type ManifestReport, validateManifest } from '../manifests/validate.ts'
import { VersionNameEntity } from './entity.ts'
import type { ReportView } from './schemas.ts'
import { checkVendor } from './vendor.ts'

/** Checks a manifest, against an app and its developer's vendor if given. Publishing uses this check too. */
export const checkManifest = (
  { http }: Pick<Deps, 'http'>,
  input: unknown,
  app?: App,
  vendor?: string | undefined,
): ManifestReport =>
  validateManifest(input, { app, vendor, checkUrl: (url) => http.checkAddress(url), knownScopes: SCOPE_NAMES })

/**
 * Returns the response of `POST /api/v1/dev/manifest/validate`: 200 for any JSON, with every error at once
 * (contract/apps-and-manifests.md#manifests).
 */
export const reportOn = (deps: Pick<Deps, 'http'>, input: unknown): ReportView => {
  const { valid, errors, warnings } = checkManifest(deps, input)
  return { valid, errors, warnings }
}

/**
 * Returns the response of `POST /api/v1/dev/apps/{id}/versions/validate`: what publishing would say. Only the card of an outside
 * agent isn't fetched.
 */
export const reportForApp = async (
  work: Work,
  developerId: string,
  appId: string,
  input: unknown,
): Promise<ReportView> => {
  const [app, developer] = await Promise.all([loadOwnApp(work, developerId, appId), loadDeveloper(work, developerId)])
  const { manifest, errors, warnings } = checkManifest(work, input, app, developer.vendor)
  const { id, version } = isObject(input) ? input : {}
  const isNamed = (path: string): boolean => errors.some((one) => one.path === path)
  const vendor =
    typeof id === 'string' && !isNamed('/id') ? await checkVendor(work, developer, id.split('.')[0] ?? '') : undefined
  const name = typeof version === 'string' && !isNamed('/version') ? { app_id: appId, version } : undefined
  const isPublished = name && (await work.table.get(VersionNameEntity, name)) !== undefined
  const all = [
    ...errors,
    ...(vendor ? [vendor] : []),
    ...(isPublished
      ? [
          {
            path: '/version',
            message: `Version ${name.version} already exists.`,
            fix: 'Use another version. Versions can’t be changed.',
          },
        ]
      : []),
  ]
  return { valid: manifest !== undefined && all.length === 0, errors: all, warnings }
}
