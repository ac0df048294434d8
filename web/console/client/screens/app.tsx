import { useState } from 'preact/hooks'
import { webAddress } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Form } from '../../../ui/form.tsx'
import { words } from '../../../ui/format.ts'
import { go } from '../../../ui/router.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, Prose, Stars } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'
import { ReportAbuse } from '../ui/report-abuse.tsx'
import { Reviews } from '../ui/reviews.tsx'
import type { ScopeName } from '../ui/scopes.tsx'

type Link = Schemas['InstallLink']

const BLOCKED: Record<NonNullable<Link['blocked_by']>, string> = {
  admin_required: 'Only admins install agents here. Ask somebody with the role admin or owner.',
  app_not_approved: 'The platform has not approved this agent yet: it can be tried in its developer’s sandbox only.',
  app_suspended: 'The platform suspended this agent.',
  installation_suspended: 'The agent, or the workspace, is suspended here. Ask the workspace’s owner.',
  no_manifest: 'The agent has no published version yet.',
  scope_denied_by_admin: 'It needs something that an admin of the workspace forbade.',
}

/** What it asks for; what is dangerous, or forbidden here, can be left out. */
const Install = ({ link }: { link: Link }) => {
  const { app, scopes } = link
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const given = scopes.filter(({ scope, denied }) => !denied && !refused.has(scope)).map(({ scope }) => scope)
  const send = async (): Promise<void> => {
    const made = await take(
      api.POST('/console/installations', { body: { slug: app.slug, scopes: given as ScopeName[] } }),
    )
    announce(`${app.name} is installed.`)
    void refresh('installations')
    go(`/agents/${made.id}`)
  }
  return (
    <Form verb={`Install ${app.name}`} send={send}>
      <fieldset>
        <legend>It will be able to</legend>
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
                    {description}
                    <br />
                    <strong>Sensitive: you can refuse it</strong>
                  </span>
                </label>
              </li>
            ) : (
              <li key={scope}>
                <span class="given">
                  <span aria-hidden="true">{denied ? '✕' : '✓'}</span>
                  <span>
                    {description}
                    {denied && (
                      <>
                        <br />
                        <strong>Forbidden by an admin, not given</strong>
                      </>
                    )}
                  </span>
                </span>
              </li>
            ),
          )}
          {scopes.length === 0 && (
            <li>
              <span class="given">Nothing beyond being installed.</span>
            </li>
          )}
        </ul>
      </fieldset>
    </Form>
  )
}

const How = ({ link }: { link: Link }) => {
  const { app, installation, blocked_by } = link
  if (installation) {
    return (
      <div class="actions">
        <a class="button primary" href={`#/agents/${installation.id}`}>
          Open the installed agent
        </a>
      </div>
    )
  }
  if (blocked_by) return <p class="note warn">{BLOCKED[blocked_by] ?? words(blocked_by)}</p>
  if (!app.needs_oauth) return <Install link={link} />
  const address = webAddress(app.install_url)
  return (
    <>
      <p>It has a service of its own: you begin there, and come back to decide what it may do.</p>
      {address ? (
        <div class="actions">
          <a class="button primary" href={address} target="_blank" rel="noopener noreferrer">
            Go on at {new URL(address).host}
          </a>
        </div>
      ) : (
        <p class="note">Its developer has not said where to begin. Look at its homepage, or ask its support.</p>
      )}
    </>
  )
}

export default function AppScreen({ slug }: { slug: string }) {
  const link = useData<Link>(`installations link ${slug}`, () =>
    take(api.GET('/console/install/{slug}', { params: { path: { slug } } })),
  )
  return (
    <Screen title={link.data?.app.name ?? 'Agent'} back={{ to: '/marketplace', label: 'Marketplace' }}>
      <Shown known={link} rows={2} tall>
        {(data) => {
          const { app } = data
          const pages = [
            ['Homepage', webAddress(app.homepage_url)],
            ['Privacy policy', webAddress(app.privacy_url)],
          ] as const
          return (
            <>
              <div class="row plain">
                <Logo name={app.name} url={app.logo_url} />
                <span class="grow">
                  <span>
                    by <Name>{app.developer_name || 'an unnamed developer'}</Name>
                    {app.verified ? ' · ✓ verified' : ' · not verified by the platform'}
                  </span>
                  <Stars rating={app.rating.average} count={app.rating.count} />
                </span>
              </div>
              <p>
                <strong>
                  <Name>{app.summary}</Name>
                </strong>
              </p>
              {app.description && <Prose text={app.description} />}
              <section class="section" aria-labelledby="install">
                <h2 id="install">Install</h2>
                <How link={data} />
              </section>
              <dl class="facts section">
                {data.agent && (
                  <>
                    <dt>Version</dt>
                    <dd>{data.agent.version}</dd>
                  </>
                )}
                {app.category && (
                  <>
                    <dt>Category</dt>
                    <dd>{words(app.category.replaceAll('-', ' '))}</dd>
                  </>
                )}
                {app.support_email && (
                  <>
                    <dt>Support</dt>
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
                          <a href={address} target="_blank" rel="noopener noreferrer">
                            {new URL(address).host}
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
