import type { App } from '../../entities/apps.ts'
import { SCOPE_NAMES } from '../../kernel/scopes.ts'
import type { Deps } from '../deps.ts'
import { type ManifestReport, validateManifest } from '../manifests/validate.ts'
import type { ReportView } from './schemas.ts'

/** Checks a manifest, for an app and its developer's vendor where they are known. Publishing uses the same. */
export const checkManifest = (
  { http }: Pick<Deps, 'http'>,
  input: unknown,
  app?: App,
  vendor?: string | undefined,
): ManifestReport =>
  validateManifest(input, { app, vendor, checkUrl: (url) => http.checkAddress(url), knownScopes: SCOPE_NAMES })

/** `POST /api/v1/dev/manifest/validate`: 200 for any JSON, with every error at once (decisions §7). */
export const reportOn = (deps: Pick<Deps, 'http'>, input: unknown): ReportView => {
  const { valid, errors, warnings } = checkManifest(deps, input)
  return { valid, errors, warnings }
}
