import type { Deps } from '#shared/foundation/work/index.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import type { App } from '../apps/entity.ts'
import { type ManifestReport, validateManifest } from '../manifests/validate.ts'
import type { ReportView } from './schemas.ts'

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
