import { type App, AppEntity, type Version, VersionEntity, VersionNameEntity } from '../../entities/apps.ts'
import { ClaimEntity, type Developer, DeveloperEntity } from '../../entities/developers.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { either, exists, missing, oneOf } from '../../table/expressions.ts'
import { ownApp } from '../apps/read.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'
import { neededSettings } from '../manifests/config.ts'
import type { Manifest } from '../manifests/schema.ts'
import { enqueued } from '../moderation/waiting.ts'
import { storeManifest } from './manifest.ts'
import { presentVersion } from './present.ts'
import type { VersionView } from './schemas.ts'
import { checkManifest } from './validate.ts'

/** Once an app was approved, what its customers get is moderation's business for ever, whatever its status is now. */
export const isModerated = (app: Pick<App, 'status' | 'approved_at'>): boolean =>
  app.approved_at !== undefined || app.status === 'approved'

/**
 * Publishes a manifest as an immutable version. The first publication of a developer fixes their vendor name.
 * @throws `invalid_manifest` with the same errors as validation gives; `version_exists`
 */
export const publishVersion = async (
  work: Work,
  developerId: string,
  appId: string,
  input: unknown,
): Promise<VersionView> => {
  const [app, developer] = await Promise.all([ownApp(work, developerId, appId), loadDeveloper(work, developerId)])
  const { manifest, errors } = checkManifest(work, input, app, developer.vendor)
  if (!manifest) throw invalid(errors)
  const { version, view } = await newVersion(work, app, manifest, input)
  await work.commit(
    [
      VersionNameEntity.create(
        { app_id: appId, version: version.version, version_id: version.id },
        { otherwise: () => fail('version_exists', { message: `Version ${version.version} exists already.` }) },
      ),
      VersionEntity.create(version),
      AppEntity.update(
        { id: appId },
        { set: { newest_version_id: version.id, updated_at: version.created_at } },
        {
          // A version must not slip past moderation while the app is being approved.
          where: { approved_at: app.approved_at === undefined ? missing : exists },
          otherwise: () => fail('conflict', { message: 'The app was changed meanwhile.', fix: 'Publish it again.' }),
        },
      ),
      ...claimVendor(developer, manifest),
      ...(version.status === 'in_review'
        ? enqueued({ app_id: appId, kind: 'version', subject: version.id, waiting_since: version.created_at })
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
): Promise<{ version: Version; view: VersionView }> => {
  const id = work.id('version')
  const version: Version = {
    id,
    app_id: app.id,
    version: manifest.version,
    agent_id: manifest.id,
    status: isModerated(app) ? 'in_review' : 'published',
    manifest: await storeManifest(work, { id, app_id: app.id }, input),
    runtime_type: manifest.runtime.type,
    ...(manifest.runtime.type === 'webhook' && { endpoint: manifest.runtime.endpoint }),
    resume: manifest.runtime.type === 'webhook' && manifest.runtime.resume === true,
    required_settings: neededSettings(manifest.config),
    created_at: work.clock.now(),
  }
  return { version, view: presentVersion(app, version, input) }
}

/** The vendor belongs to whoever publishes with it first, and a developer has one only. */
const claimVendor = (developer: Developer, { id }: Manifest): Write[] => {
  if (developer.vendor !== undefined) return []
  const vendor = id.slice(0, id.indexOf('.'))
  return [
    ClaimEntity.replace(
      { kind: 'vendor', value: vendor, owner_id: developer.id },
      {
        where: { owner_id: either(missing, oneOf(developer.id)) },
        otherwise: () =>
          vendorError(`The vendor ${vendor} belongs to another developer.`, 'Choose another vendor name.'),
      },
    ),
    DeveloperEntity.update(
      { id: developer.id },
      { set: { vendor } },
      {
        where: { vendor: either(missing, oneOf(vendor)) },
        otherwise: (current) =>
          vendorError(`Your vendor is ${current?.vendor ?? 'another one'}.`, `Use it as the first part of the id.`),
      },
    ),
  ]
}

const vendorError = (message: string, fix: string): PlatformError => invalid([{ path: '/id', message, fix }])

const invalid = (errors: readonly unknown[]): PlatformError =>
  fail('invalid_manifest', {
    message: `The manifest has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}.`,
    details: { errors },
  })
