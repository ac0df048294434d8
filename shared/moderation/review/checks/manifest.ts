import { checkManifest, loadManifest } from '#shared/catalogue/versions/index.ts'
import type { SubmissionCheck } from './subject.ts'

const SHOWN = 20

/** Checks that the manifest is valid by the current rules, for its app and its developer's vendor. */
export const validManifest: SubmissionCheck = async ({ deps, app, version, developer }) => {
  const { errors, warnings } = checkManifest(deps, await loadManifest(deps, version), app, developer?.vendor)
  const evidence = {
    version: version.version,
    agent_id: version.agent_id,
    runtime_type: version.runtime_type,
    errors: errors.slice(0, SHOWN),
    warnings: warnings.slice(0, SHOWN),
  }
  if (errors.length > 0) {
    return {
      status: 'failed',
      message: `The manifest has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}.`,
      fix: 'Publish a version whose manifest passes POST /api/v1/dev/manifest/validate.',
      evidence,
    }
  }
  return warnings.length > 0
    ? { status: 'warning', message: 'The manifest is valid, with warnings.', fix: 'Review the warnings.', evidence }
    : { status: 'passed', message: 'The manifest is valid.', evidence }
}
