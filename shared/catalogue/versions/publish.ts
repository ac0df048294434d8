import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper, vendorWrites } from '#shared/identity/developer-accounts/index.ts'
import type { Developer } from '#shared/identity/developers/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { quoteName } from '#shared/kernel/json-schema/finding.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { exists, missing } from '#shared/table/expressions.ts'
import { type AgentCardPin, pinAgentCard, watchWrites } from '../agent-cards/index.ts'
import { type App, AppEntity } from '../apps/entity.ts'
import { isModerated } from '../apps/moderated.ts'
import { loadOwnApp } from '../apps/read.ts'
import { requiredSettings } from '../manifests/config.ts'
import type { Manifest } from '../manifests/schema.ts'
import { withCurrentTuples } from '../manifests/tuples.ts'
import { enqueueWrites } from '../review-queue/writes.ts'
import { type Version, VersionEntity, VersionNameEntity } from './entity.ts'
import { storeManifest } from './manifest.ts'
import { presentVersion } from './present.ts'
import type { VersionView } from './schemas.ts'
import { checkManifest } from './validate.ts'
import { checkVendor, vendorTaken } from './vendor.ts'

/**
 * Publishes a manifest as an immutable version. A developer's first publication fixes their vendor name.
 * @throws `invalid_manifest` with the same errors as validation, `version_exists`
 */
export const publishVersion = async (
  work: Work,
  developerId: string,
  appId: string,
  input: unknown,
): Promise<VersionView> => {
  const [app, developer] = await Promise.all([loadOwnApp(work, developerId, appId), loadDeveloper(work, developerId)])
  const { manifest, errors } = checkManifest(work, input, app, developer.vendor)
  if (!manifest) throw invalid(errors)
  const vendor = manifest.id.slice(0, manifest.id.indexOf('.'))
  const wrong = await checkVendor(work, developer, vendor)
  if (wrong) throw invalid([wrong])
  const card = await pinCard(work, developerId, manifest)
  const { version, view, writes } = await newVersion(work, app, manifest, withCurrentTuples(input), card)
  await work.commit(
    [
      VersionNameEntity.create(
        { app_id: appId, version: version.version, version_id: version.id },
        { otherwise: () => fail('version_exists', { message: `Version ${version.version} already exists.` }) },
      ),
      VersionEntity.create(version),
      ...writes,
      AppEntity.update(
        { id: appId },
        { set: { newest_version_id: version.id, updated_at: version.created_at } },
        {
          // A version must not slip past moderation while the app is being approved.
          where: { approved_at: app.approved_at === undefined ? missing : exists },
          otherwise: () =>
            fail('conflict', { message: 'The app was changed by another request.', fix: 'Send the request again.' }),
        },
      ),
      ...watchWrites(work, app, version, manifest.runtime.type === 'a2a' ? manifest.runtime.card_url : undefined),
      ...claimVendor(developer, vendor),
      ...(version.status === 'in_review'
        ? enqueueWrites({ app_id: appId, kind: 'version', subject: version.id, waiting_since: version.created_at })
        : []),
      auditDeveloper(work, developerId, 'version.published', { type: 'app', id: appId }, { version: version.version }),
    ],
    view,
  )
  return view
}

const newVersion = async (
  work: Work,
  app: App,
  manifest: Manifest,
  input: unknown,
  card: AgentCardPin | undefined,
): Promise<{ version: Version; view: VersionView; writes: Write[] }> => {
  const id = work.id('version')
  const { stored, writes } = await storeManifest(work, { id, app_id: app.id }, input)
  const version: Version = {
    ...stampOf(id),
    app_id: app.id,
    version: manifest.version,
    agent_id: manifest.id,
    status: isModerated(app) ? 'in_review' : 'published',
    manifest: stored,
    runtime_type: manifest.runtime.type,
    ...(manifest.runtime.type === 'webhook' && { endpoint: manifest.runtime.endpoint }),
    resume: card !== undefined || (manifest.runtime.type === 'webhook' && manifest.runtime.resume === true),
    ...(card && { card }),
    ...(manifest.runtime.type === 'webhook' &&
      manifest.runtime.retry && { max_attempts: manifest.runtime.retry.max_attempts }),
    required_settings: requiredSettings(manifest.config),
  }
  return { version, view: presentVersion(app, version, input), writes }
}

/**
 * Fetches the card of an outside agent, and checks that it has the manifest's skill.
 * @throws `rate_limited`; `invalid_manifest` if the card can't be used
 */
const pinCard = async (work: Work, developerId: string, { runtime }: Manifest): Promise<AgentCardPin | undefined> => {
  if (runtime.type !== 'a2a') return undefined
  const { allowed, retryAfter } = await takeFromBucket(work, `cards:${developerId}`, LIMITS.testRunRate)
  if (!allowed) throw rateLimited('developer', retryAfter)
  const { card_url, skill } = runtime
  const card = await pinAgentCard(work, card_url)
  if ('fix' in card) throw invalid([{ path: '/runtime/card_url', ...card }])
  if (skill === undefined || card.skills.includes(skill)) return card
  const path = '/runtime/skill'
  const fix = `Use one of its skills: ${card.skills.slice(0, 10).map(quoteName).join(', ')}.`
  throw invalid([{ path, message: `The card has no skill ${quoteName(skill)}.`, fix }])
}

/** Returns the writes that claim the vendor for a developer's first publication, unless they have claimed it before. */
const claimVendor = (developer: Developer, vendor: string): Write[] =>
  developer.vendor !== undefined
    ? []
    : vendorWrites(developer, vendor, (why, own) =>
        invalid([
          why === 'taken'
            ? vendorTaken(vendor)
            : {
                path: '/id',
                message: `Your vendor is ${own ?? 'another one'}.`,
                fix: 'Use your vendor as the first part of the id.',
              },
        ]),
      )

const invalid = (errors: readonly unknown[]): PlatformError =>
  fail('invalid_manifest', {
    message: `The manifest has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}.`,
    details: { errors },
  })
