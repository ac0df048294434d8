import { addInstallation } from '#shared/access/installations/index.ts'
import { type App, AppEntity, DeveloperAppEntity, SAMPLE_SLUG, standingWrites } from '#shared/catalogue/apps/index.ts'
import type { Manifest, ManifestSchedule } from '#shared/catalogue/manifests/index.ts'
import { type Version, VersionEntity, VersionNameEntity } from '#shared/catalogue/versions/index.ts'
import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { DeveloperEntity, newDeveloper } from '#shared/identity/developers/index.ts'
import type { Belonging } from '#shared/identity/people/index.ts'
import { derivedId, stampOf } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { placeOfDeveloper, rosterWrites } from '#shared/staff/roster/index.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { SAMPLE_MODEL } from '../inline/index.ts'

const SCOPES: Scope[] = ['workspace:read', 'tools:invoke', 'chat:read', 'chat:write', 'tasks:read', 'tasks:write']

const MANIFEST = {
  id: `platform.${SAMPLE_SLUG}`,
  version: '1.0.0',
  name: 'Sample agent',
  summary: 'Shows how agents work here. Answers by fixed rules, without a language model.',
  runtime: { type: 'inline', model: SAMPLE_MODEL, instructions: 'Answers by fixed rules.', max_steps: 2 },
  schedules: [
    {
      key: 'weekly_summary',
      name: 'Every Monday, sum up the week',
      when: { cron: '0 9 * * MON' },
      start: { input: { question: 'Create a task: sum up the week' } },
    },
  ],
} as const satisfies Omit<Manifest, 'schedules'> & { schedules: readonly ManifestSchedule[] }

/**
 * Creates the app of the sample agent if this platform doesn't have it yet, with a developer account that nobody can sign in
 * to. Nobody knows the app's secret, and it isn't listed in the marketplace. Of concurrent calls, one creates it.
 */
const ensureSampleApp = async (work: Work): Promise<void> => {
  const id = derivedId('app', 0, SAMPLE_SLUG)
  if (await work.table.get(AppEntity, { id })) return
  const now = work.clock.now()
  const developer = newDeveloper({
    ...stampOf(derivedId('developer', 0, SAMPLE_SLUG), now),
    email: 'platform@invalid',
    name: 'The platform',
    status: 'active',
    verified: true,
    sandbox_workspace_id: '',
    key_hash: sha256(newSecret('dvk_')),
    language: 'en',
  })
  const version: Version = {
    ...stampOf(derivedId('version', 0, SAMPLE_SLUG), now),
    app_id: id,
    version: MANIFEST.version,
    agent_id: MANIFEST.id,
    status: 'approved',
    manifest: { json: JSON.stringify(MANIFEST) },
    runtime_type: 'inline',
    resume: false,
  }
  const app: App = {
    ...stampOf(id, now),
    developer_id: developer.id,
    slug: SAMPLE_SLUG,
    type: 'agent',
    name: MANIFEST.name,
    summary: MANIFEST.summary,
    description: 'Ask it about the workspace, or to create a task. It needs no settings, no key and no network.',
    redirect_uris: [],
    requested_scopes: SCOPES,
    status: 'approved',
    client_secret_hash: sha256(newSecret('cs_')),
    secret_version: 1,
    signing_secrets: [],
    promoted_version: version.version,
    promoted_version_id: version.id,
    newest_version_id: version.id,
    approved_at: now,
    verified: true,
    updated_at: now,
  }
  await ifUnchanged(
    withoutAnswer(work).commit([
      ClaimEntity.create({ kind: 'slug', value: app.slug, owner_id: id }),
      DeveloperEntity.create(developer),
      ...rosterWrites(undefined, placeOfDeveloper(developer)),
      AppEntity.create(app),
      DeveloperAppEntity.create({ developer_id: developer.id, app_id: id }),
      ...standingWrites(undefined, app),
      VersionNameEntity.create({ app_id: id, version: version.version, version_id: version.id }),
      VersionEntity.create(version),
      auditEntry(work, {
        scope: 'platform',
        action: 'app.created',
        actor: { type: 'platform', id: 'sample-agent' },
        target: { type: 'app', id },
        details: { slug: app.slug },
      }),
    ]),
  )
}

/**
 * Handles `POST /console/sample-agent`: installs the platform's sample agent (contract/installations.md#sample-agent).
 * @throws see {@link addInstallation}
 */
export const installSampleAgent = async (work: Work, belonging: Belonging): ReturnType<typeof addInstallation> => {
  await ensureSampleApp(work)
  return addInstallation(work, belonging, { slug: SAMPLE_SLUG })
}
