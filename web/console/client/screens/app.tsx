import { useState } from 'preact/hooks'
import { parseAddress } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { CATEGORIES, type Category } from '../../../ui/categories.ts'
import { refresh, useData } from '../../../ui/data.ts'
import { Form } from '../../../ui/form.tsx'
import { humanize } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { navigate } from '../../../ui/router.ts'
import { scopeText } from '../../../ui/scope-text.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, Stars } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Markdown } from '../ui/markdown.tsx'
import { ReportAbuse } from '../ui/report-abuse.tsx'
import { Reviews } from '../ui/reviews.tsx'
import { ProposedSchedules } from '../ui/schedule-proposals.tsx'
import type { ScopeName } from '../ui/scopes.tsx'
import { Screenshots } from '../ui/screenshots.tsx'

type Link = Schemas['InstallLink']

const BLOCKED: Record<NonNullable<Link['blocked_by']>, string> = {
  admin_required: t('Only admins and owners can install agents in this workspace. Ask one of them.'),
  app_not_approved: t('This agent isn’t approved yet. You can only try it in its developer’s sandbox.'),
  app_suspended: t('The platform has suspended this agent. Contact its developer for details.'),
  installation_suspended: t('This agent or this workspace is suspended. Ask the workspace owner.'),
  no_manifest: t('This agent has no published version yet.'),
  scope_denied_by_admin: t('This agent needs a permission that a workspace admin has blocked. Ask an admin.'),
}

/** The requested permissions. Dangerous ones are optional, and ones blocked by an admin are left out. */
const Install = ({ link }: { link: Link }) => {
  const { app, scopes } = link
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const given = scopes.filter(({ scope, denied }) => !denied && !refused.has(scope)).map(({ scope }) => scope)
  const send = async (): Promise<void> => {
    const made = await unwrap(
      api.POST('/console/installations', { body: { slug: app.slug, scopes: given as ScopeName[] } }),
    )
    announce(
      link.installation
        ? t('{name} was reconnected.', { name: app.name })
        : t('{name} was installed.', { name: app.name }),
      {
        to: `/agents/${made.id}`,
        label: t('Open'),
      },
    )
    void refresh('installations')
    navigate(`/agents/${made.id}`)
  }
  return (
    <Form verb={`${link.installation ? t('Reconnect') : t('Install')} ${app.name}`} send={send}>
      <fieldset>
        <legend>{t('This agent will be able to')}</legend>
        <ul class="rows">
          {scopes.map(({ scope, description, dangerous, denied }) =>
            dangerous && !denied ? (
              <li key={scope} class="sensitive">
                <label class="tick">
                  <input
                    type="checkbox"
                    checked={!refused.has(scope)}
                    onChange={({ currentTarget: { checked } }) =>
                      setRefused(
                        (before) => new Set(checked ? [...before].filter((one) => one !== scope) : [...before, scope]),
                      )
                    }
                  />
                  <span>
                    {scopeText(scope, description)}
                    <br />
                    <strong>{t('Sensitive and optional')}</strong>
                  </span>
                </label>
              </li>
            ) : (
              <li key={scope}>
                <span class="given">
                  <span aria-hidden="true">{denied ? '✕' : '✓'}</span>
                  <span>
                    {scopeText(scope, description)}
                    {denied && (
                      <>
                        <br />
                        <strong>{t('Blocked by a workspace admin')}</strong>
                      </>
                    )}
                  </span>
                </span>
              </li>
            ),
          )}
          {scopes.length === 0 && (
            <li>
              <span class="given">{t('No permissions requested')}</span>
            </li>
          )}
        </ul>
      </fieldset>
    </Form>
  )
}

const InstallOptions = ({ link }: { link: Link }) => {
  const { app, installation, blocked_by } = link
  if (installation && !installation.access_withdrawn) {
    return (
      <div class="actions">
        <a class="button primary" href={`#/agents/${installation.id}`}>
          {t('Open the installed agent')}
        </a>
      </div>
    )
  }
  if (blocked_by) return <p class="note warn">{BLOCKED[blocked_by] ?? humanize(blocked_by)}</p>
  if (!app.needs_oauth) return <Install link={link} />
  const address = parseAddress(app.install_url)
  return (
    <>
      <p>{t('Installation starts on this agent’s website. You’ll come back here to choose what it can do.')}</p>
      {address ? (
        <div class="actions">
          <a class="button primary" href={address.href} target="_blank" rel="noopener noreferrer">
            {t('Continue to {host}', { host: address.host })}
          </a>
        </div>
      ) : (
        <p class="note">
          {t('The developer hasn’t provided an installation link. Check the agent’s homepage or contact its support.')}
        </p>
      )}
    </>
  )
}

/** Warns about apps that the name could be confused with. */
const SimilarNames = ({ apps }: { apps: Link['app']['similar_to'] }) =>
  apps.length === 0 ? null : (
    <div class="note warn">
      <p>{t('The name is similar to other apps. This isn’t one of them:')}</p>
      <ul>
        {apps.map((similar) => (
          <li key={similar.app_id}>
            {rich('{a} by {developer_name}', {
              a: (
                <a href={`#/marketplace/${similar.slug}`}>
                  <Name>{similar.name}</Name>
                </a>
              ),
              developer_name: <Name>{similar.developer_name || t('an unnamed developer')}</Name>,
            })}
          </li>
        ))}
      </ul>
    </div>
  )

export default function AppScreen({ slug }: { slug: string }) {
  const link = useData<Link>(`installations link ${slug}`, () =>
    unwrap(api.GET('/console/install/{slug}', { params: { path: { slug } } })),
  )
  return (
    <Screen title={link.data?.app.name ?? t('Agent')} back={{ to: '/marketplace', label: t('Marketplace') }}>
      <Shown known={link} rows={2} tall>
        {(data) => {
          const { app } = data
          const pages = [
            [t('Homepage'), parseAddress(app.homepage_url)],
            [t('Privacy policy'), parseAddress(app.privacy_url)],
          ] as const
          return (
            <>
              <div class="row plain">
                <Logo name={app.name} path={app.logo_path} />
                <span class="grow">
                  <span>
                    {rich('by {a}', {
                      a: (
                        <a href={`#/publishers/${app.developer_id}`}>
                          <Name>{app.developer_name || t('an unnamed developer')}</Name>
                        </a>
                      ),
                    })}
                    {app.verified ? t(' · ✓ verified') : t(' · unverified')}
                  </span>
                  <Stars rating={app.rating.average} count={app.rating.count} />
                </span>
              </div>
              <SimilarNames apps={app.similar_to} />
              <p>
                <strong>
                  <Name>{app.summary}</Name>
                </strong>
              </p>
              <section class="section" aria-labelledby="install">
                <h2 id="install">{t('Install')}</h2>
                <InstallOptions link={data} />
              </section>
              {!data.installation && <ProposedSchedules schedules={data.schedules} />}
              {app.screenshots.length > 0 && <Screenshots items={app.screenshots} />}
              {app.description && (
                <div class="section report">
                  <Markdown text={app.description} />
                </div>
              )}
              <dl class="facts section">
                {data.agent && (
                  <>
                    <dt>{t('Version')}</dt>
                    <dd>{data.agent.version}</dd>
                  </>
                )}
                {app.category && (
                  <>
                    <dt>{t('Category')}</dt>
                    <dd>{CATEGORIES[app.category as Category] ?? app.category}</dd>
                  </>
                )}
                {app.support_email && (
                  <>
                    <dt>{t('Support')}</dt>
                    <dd>
                      <Name>{app.support_email}</Name>
                    </dd>
                  </>
                )}
                {pages.map(
                  ([label, address]) =>
                    address && (
                      <>
                        <dt>{label}</dt>
                        <dd>
                          <a href={address.href} target="_blank" rel="noopener noreferrer">
                            {address.host}
                          </a>
                        </dd>
                      </>
                    ),
                )}
              </dl>
              <Reviews appId={app.id} mayWrite={data.installation !== null} />
              <p>
                <ReportAbuse appId={app.id} />
              </p>
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
