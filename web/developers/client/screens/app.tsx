import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData, usePages } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { count } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { navigate } from '../../../ui/router.ts'
import { More, Shown } from '../../../ui/screen.tsx'
import type { Screenshot } from '../../../ui/screenshot.tsx'
import { Prose, When } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { may, refusalOf } from '../ui/roles.ts'

interface Requirement {
  met: boolean
  words: string
  to: string
}

const requirementsOf = (app: App): Requirement[] => {
  const settings = `/apps/${app.id}/settings`
  return [
    { met: app.name !== '', words: t('A name'), to: settings },
    { met: app.summary !== '', words: t('A summary'), to: settings },
    { met: app.description !== '', words: t('A description'), to: settings },
    { met: app.logo_url !== null, words: t('A logo'), to: settings },
    { met: app.privacy_url !== null, words: t('The address of a privacy policy'), to: settings },
    { met: app.support_email !== null, words: t('A support address'), to: settings },
    { met: app.promoted_version !== null, words: t('A promoted version'), to: `/apps/${app.id}/versions` },
  ]
}

const Check = ({ met, words, to }: Requirement) => (
  <li class={met ? 'met' : 'unmet'}>
    <span aria-hidden="true">{met ? '✓' : '○'}</span>
    {met ? words : <a href={`#${to}`}>{words}</a>}
    <span class="unseen">{met ? t(' (done)') : t(' (missing)')}</span>
  </li>
)

/** True if a test run of the promoted version succeeded in the sandbox, as submission requires. */
const useTested = (app: App) =>
  useData(`app ${app.id} tested`, async () => {
    const { items } = await unwrap(
      api.GET('/api/v1/dev/apps/{id}/logs', {
        params: { path: { id: app.id }, query: { status: 'succeeded', limit: 100 } },
      }),
    )
    return items.some(({ trigger, is_sandbox }) => is_sandbox && trigger === 'test')
  })

const Submission = ({ app }: { app: App }) => {
  const tested = useTested(app)
  const { busy, failure, act } = useAction()
  const requirements = [
    ...requirementsOf(app),
    {
      met: app.test_run_at !== null || tested.data === true,
      words: t('A successful test run'),
      to: `/apps/${app.id}/test`,
    },
  ]
  const isOpen = app.status === 'draft' || app.status === 'rejected'
  if (!isOpen) return null
  const submit = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/apps/{id}/submit', { params: { path: { id: app.id } } }))
    announce(t('Submitted. The moderators will look at it.'))
    await refresh('app')
  }
  const refused = refusalOf('POST /api/v1/dev/apps/{id}/submit')
  const missing = requirements.filter(({ met }) => !met).length
  return (
    <section class="section card">
      <h2>{t('Get listed in the marketplace')}</h2>
      {app.status_reason && (
        <div class="note warn">
          <p>
            <strong>{t('The moderators rejected it.')}</strong>
          </p>
          <Prose text={app.status_reason} />
        </div>
      )}
      <p>{t('Moderators review an app before customers see it. It needs:')}</p>
      <ul class="checks">
        {requirements.map((one) => (
          <Check key={one.words} {...one} />
        ))}
      </ul>
      {identity.value && !identity.value.email_verified && (
        <p class="hint">
          {rich('Your email address isn’t confirmed yet, which most platforms require. <link>Confirm it</link>', {
            link: (text) => <a href="#/account">{text}</a>,
          })}
        </p>
      )}
      {failure && <Problem failure={failure} />}
      {refused && <p class="hint">{refused}</p>}
      <div class="actions">
        {!refused && (
          <button type="button" class="primary" aria-busy={busy} onClick={() => act(submit)}>
            {t('Submit for review')}
          </button>
        )}
        {missing > 0 && (
          <span class="soft beside">
            {t('{missing} of {requirements} missing', { missing, requirements: requirements.length })}
          </span>
        )}
      </div>
    </section>
  )
}

/** Fields whose changes wait for a moderator. */
const FIELDS: Readonly<Record<keyof NonNullable<App['pending_revision']>['changes'], string>> = {
  name: t('Name'),
  summary: t('Summary'),
  description: t('Description'),
  logo_url: t('Logo'),
  homepage_url: t('Homepage'),
  privacy_url: t('Privacy policy'),
  install_url: t('Install page'),
  redirect_uris: t('Redirect URIs'),
  requested_scopes: t('Requested permissions'),
  screenshots: t('Screenshots'),
}

const textOf = (one: string | Screenshot): string => (typeof one === 'string' ? one : one.caption)

const Pending = ({ app: { pending_revision } }: { app: App }) =>
  pending_revision && (
    <section class="section card">
      <h2>{t('Changes in review')}</h2>
      <p>
        {rich('Customers see these after a moderator approves them. Submitted {time}.', {
          time: <When at={pending_revision.submitted_at} />,
        })}
        {pending_revision.badge_withheld && t(' Until then, your verified badge isn’t shown.')}
      </p>
      <dl class="facts">
        {Object.entries(pending_revision.changes).map(([field, value]) => (
          <>
            <dt>{FIELDS[field as keyof typeof FIELDS] ?? field}</dt>
            <dd>
              <Prose text={Array.isArray(value) ? value.map(textOf).join('\n') : (value ?? t('Removed'))} />
            </dd>
          </>
        ))}
      </dl>
    </section>
  )

/** Returns what a message says. Decisions are told in the page's language, and the moderator's reason as it is. */
const said = ({ text, decision }: Schemas['AppMessage']): string => {
  if (!decision) return text
  const version = decision.version ?? ''
  const fields = (decision.fields ?? []).map((field) => FIELDS[field as keyof typeof FIELDS] ?? field).join(', ')
  const sentence = {
    'app.approved': t('The app was approved.'),
    'app.relisted': t('The app is back in the marketplace.'),
    'app.rejected': t('The app was rejected.'),
    'app.delisted': t('The app was removed from the marketplace. Existing installations keep working.'),
    'app.suspended': t('The app was suspended.'),
    'app.unsuspended': t('The app is no longer suspended.'),
    'version.approved': t('Version {version} was approved. You can now promote it.', { version }),
    'version.rejected': t('Version {version} was rejected.', { version }),
    'revision.approved': t('Your changes were approved and are live: {fields}.', { fields }),
    'revision.rejected': t('Your changes were rejected: {fields}. The app stays as it is.', { fields }),
  }[decision.code]
  return decision.reason ? `${sentence} ${decision.reason}` : sentence
}

const Messages = ({ app }: { app: App }) => {
  const [text, setText] = useState('')
  const path = { id: app.id }
  const list = usePages(`app ${app.id} messages`, (cursor) =>
    unwrap(api.GET('/api/v1/dev/apps/{id}/messages', { params: { path, query: { ...(cursor && { cursor }) } } })),
  )
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/apps/{id}/messages', { params: { path }, body: { text: text.trim() } }))
    await refresh(`app ${app.id} messages`)
  }
  return (
    <section class="section">
      <h2>{t('Messages with the moderators')}</h2>
      <Shown known={list} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">{t('No messages yet.')}</p>
          ) : (
            <ol class="messages">
              {[...items].reverse().map((message) => (
                <li key={message.id} class={message.author.type === 'developer' ? 'message mine' : 'message'}>
                  <p class="by">
                    <b>{message.author.type === 'developer' ? t('You') : t('Moderation')}</b>
                    <When at={message.created_at} />
                  </p>
                  <Prose text={said(message)} />
                </li>
              ))}
            </ol>
          )
        }
      </Shown>
      <More more={list.more} />
      <Form
        verb={t('Send')}
        send={send}
        done={() => setText('')}
        refused={refusalOf('POST /api/v1/dev/apps/{id}/messages')}
      >
        <TextField label={t('Message')} rows={3} value={text} required maxLength={5_000} onText={setText} />
      </Form>
    </section>
  )
}

const Summary = ({ app }: { app: App }) => {
  const stats = useData(`app ${app.id} stats 30`, () =>
    unwrap(api.GET('/api/v1/dev/apps/{id}/stats', { params: { path: { id: app.id }, query: { days: '30' } } })),
  )
  return (
    <Shown known={stats} rows={1}>
      {({ installations, runs, failed, sandbox }) => (
        <dl class="figures">
          <div>
            <dt>{t('Version')}</dt>
            <dd>{app.promoted_version ?? '–'}</dd>
          </div>
          <div>
            <dt>{t('Installations')}</dt>
            <dd>{count(installations)}</dd>
          </div>
          <div>
            <dt>{t('Runs')}</dt>
            <dd>{count(runs)}</dd>
          </div>
          <div>
            <dt>{t('Failed')}</dt>
            <dd>{count(failed)}</dd>
          </div>
          <div>
            <dt>{t('Sandbox runs')}</dt>
            <dd>{count(sandbox.runs)}</dd>
          </div>
        </dl>
      )}
    </Shown>
  )
}

const Remove = ({ app }: { app: App }) =>
  app.status === 'draft' && app.submitted_at === null && may('DELETE /api/v1/dev/apps/{id}') ? (
    <section class="section">
      <Confirm
        label={t('Delete this draft')}
        title={t('Delete {name}?', { name: app.name })}
        verb={t('Delete')}
        typed={app.slug}
        act={async () => {
          await unwrap(api.DELETE('/api/v1/dev/apps/{id}', { params: { path: { id: app.id } } }))
          await refresh('apps')
          navigate('/')
        }}
      >
        <p>{t('Its versions are deleted too, and sandboxes lose it. This can’t be undone.')}</p>
      </Confirm>
    </section>
  ) : null

export default function Overview({ id }: { id: string }) {
  return (
    <AppScreen id={id} title={t('Overview')}>
      {(app) => (
        <>
          {app.status === 'suspended' && (
            <div class="note warn">
              <p>
                {rich('<strong>This app is suspended.</strong> Its agents don’t run.', {
                  strong: (text) => <strong>{text}</strong>,
                })}
              </p>
              {app.status_reason && <Prose text={app.status_reason} />}
            </div>
          )}
          <Summary app={app} />
          <Pending app={app} />
          <Submission app={app} />
          <Messages app={app} />
          <Remove app={app} />
        </>
      )}
    </AppScreen>
  )
}
