import { ClaimEntity, CounterEntity } from '#shared/foundation/claims/index.ts'
import { platformCountWrite } from '#shared/foundation/counters/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { seal } from '#shared/kernel/encryption.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { newSigningSecret, standardSecret } from '#shared/kernel/signatures.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { either, lt, missing } from '#shared/table/expressions.ts'
import { logoFetchWrites } from '../logos/request.ts'
import { requireAllowedAddresses } from './addresses.ts'
import { type App, AppEntity, DeveloperAppEntity } from './entity.ts'
import { refuseNameAsSlug, refuseSlugAsName } from './lookalikes.ts'
import { presentApp } from './present.ts'
import { ORCHESTRATOR_SLUG, SAMPLE_SLUG } from './reserved.ts'
import type { CreateAppInput, CreatedAppView } from './schemas.ts'
import { signingSecretRecord } from './signing-secret.ts'
import { standingWrites } from './standing.ts'

/**
 * Creates an app with its OAuth credentials and its signing secret, both shown only in this response.
 * @throws `slug_taken`, also for the name of another developer's listed app; `validation_error` for a name that is another
 * app's slug; `app_limit_reached` (20 per developer, exact under concurrent calls), `blocked_target`
 */
export const createApp = async (work: Work, developerId: string, input: CreateAppInput): Promise<CreatedAppView> => {
  requireAllowedAddresses(work, input)
  // Reserved: they name the platform's own agents.
  if (input.slug === ORCHESTRATOR_SLUG || input.slug === SAMPLE_SLUG) throw fail('slug_taken')
  await Promise.all([refuseSlugAsName(work, input.slug, input.name), refuseNameAsSlug(work, developerId, input.slug)])
  const { verified } = await loadDeveloper(work, developerId)
  const stamp = stampOf(work.id('app'))
  const { id } = stamp
  const clientSecret = newSecret('cs_')
  const signingSecret = newSigningSecret('agsec_')
  const app: App = {
    ...stamp,
    developer_id: developerId,
    slug: input.slug,
    type: input.type,
    name: input.name,
    summary: input.summary ?? '',
    description: input.description ?? '',
    category: input.category ?? undefined,
    logo_url: input.logo_url ?? undefined,
    privacy_url: input.privacy_url ?? undefined,
    homepage_url: input.homepage_url ?? undefined,
    install_url: input.install_url ?? undefined,
    support_email: input.support_email ?? undefined,
    redirect_uris: input.redirect_uris ?? [],
    requested_scopes: input.requested_scopes ?? [],
    jwks: input.jwks ?? undefined,
    status: 'draft',
    client_secret_hash: sha256(clientSecret),
    secret_version: 1,
    signing_secrets: [{ value: await seal(await work.keys.data(), signingSecretRecord(id), signingSecret) }],
    verified,
    updated_at: stamp.created_at,
  }
  const counter = { owner: developerId, counter: 'apps' }
  const view = {
    ...presentApp(app),
    client_secret: clientSecret,
    signing_secret: signingSecret,
    standard_webhooks_secret: standardSecret(signingSecret),
  }
  await work.commit(
    [
      ClaimEntity.create({ kind: 'slug', value: app.slug, owner_id: id }, { otherwise: () => fail('slug_taken') }),
      CounterEntity.upsert(
        counter,
        { set: counter, add: { n: 1 } },
        {
          where: { n: either(missing, lt(LIMITS.appsPerDeveloper)) },
          otherwise: () =>
            fail('app_limit_reached', { message: `Your account has the maximum of ${LIMITS.appsPerDeveloper} apps.` }),
        },
      ),
      // If the account is verified or blocked at the same time, the app would miss it.
      DeveloperEntity.check({ id: developerId }, { where: { verified, status: 'active' }, otherwise: accountChanged }),
      AppEntity.create(app),
      DeveloperAppEntity.create({ developer_id: developerId, app_id: id }),
      ...standingWrites(undefined, app),
      ...(app.logo_url === undefined ? [] : await logoFetchWrites(work, id)),
      platformCountWrite(work, stamp.created_at, id, { apps: 1 }),
      auditDeveloper(work, developerId, 'app.created', { type: 'app', id }, { slug: app.slug }),
    ],
    view,
  )
  return view
}

const accountChanged = () =>
  fail('conflict', { message: 'Your account was changed by another request.', fix: 'Send the request again.' })
