import { type App, AppEntity, DeveloperAppEntity } from '../../entities/apps.ts'
import { ClaimEntity, CounterEntity, DeveloperEntity } from '../../entities/developers.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { seal } from '../../kernel/sealed.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import { newSigningSecret } from '../../kernel/signatures.ts'
import { either, lt, missing } from '../../table/expressions.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'
import { standingWrites } from '../moderation/standing.ts'
import { ORCHESTRATOR_SLUG } from '../orchestrator/principal.ts'
import { signingSecretRecord } from '../runs/execute-request.ts'
import { countedOnPlatform } from '../statistics/platform.ts'
import { refuseForbidden } from './addresses.ts'
import { presentApp } from './present.ts'
import type { CreateAppInput, CreatedAppView } from './schemas.ts'

/**
 * Creates an app with its OAuth credentials and its signing secret, both shown this once.
 * @throws `slug_taken`, `app_limit_reached` (20 per developer, exact under concurrent calls), `blocked_target`
 */
export const createApp = async (work: Work, developerId: string, input: CreateAppInput): Promise<CreatedAppView> => {
  refuseForbidden(work, input)
  // The platform's own: it names the orchestrator in `allowed_callers`.
  if (input.slug === ORCHESTRATOR_SLUG) throw fail('slug_taken')
  const { verified } = await loadDeveloper(work, developerId)
  const now = work.clock.now()
  const id = work.id('app')
  const clientSecret = newSecret('cs_')
  const signingSecret = newSigningSecret('agsec_')
  const app: App = {
    id,
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
    status: 'draft',
    client_secret_hash: sha256(clientSecret),
    secret_version: 1,
    signing_secrets: [{ value: await seal(await work.keys.data(), signingSecretRecord(id), signingSecret) }],
    verified,
    created_at: now,
    updated_at: now,
  }
  const counter = { owner: developerId, counter: 'apps' }
  const view = { ...presentApp(app), client_secret: clientSecret, signing_secret: signingSecret }
  await work.commit(
    [
      ClaimEntity.create({ kind: 'slug', value: app.slug, owner_id: id }, { otherwise: () => fail('slug_taken') }),
      CounterEntity.upsert(
        counter,
        { set: counter, add: { n: 1 } },
        {
          where: { n: either(missing, lt(LIMITS.appsPerDeveloper)) },
          otherwise: () =>
            fail('app_limit_reached', { message: `At most ${LIMITS.appsPerDeveloper} apps are allowed.` }),
        },
      ),
      // Decided on at this moment: the app would not show the badge.
      DeveloperEntity.check({ id: developerId }, { where: { verified }, otherwise: verifiedMeanwhile }),
      AppEntity.create(app),
      DeveloperAppEntity.create({ developer_id: developerId, app_id: id }),
      ...standingWrites(undefined, app),
      countedOnPlatform(work, now, id, { apps: 1 }),
      auditDeveloper(work, developerId, 'app.created', { type: 'app', id }, { slug: app.slug }),
    ],
    view,
  )
  return view
}

const verifiedMeanwhile = () =>
  fail('conflict', { message: 'Your account was changed meanwhile.', fix: 'Send the request again.' })
