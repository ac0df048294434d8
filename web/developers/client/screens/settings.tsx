import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { CATEGORIES } from '../../../ui/categories.ts'
import { refresh } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { clearSandboxTokens } from '../sandbox.ts'
import { MANIFEST_SCOPES } from '../templates.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { may, refusalOf } from '../ui/roles.ts'
import { Secret } from '../ui/secret.tsx'

const Screenshots = part(async () => ({ default: (await import('../ui/screenshots.tsx')).Screenshots }))

type Edit = Omit<Schemas['EditApp'], 'screenshots'>

const ADDRESSES = [
  ['logo_url', t('Logo'), t('Address of a square PNG, JPEG or WebP image. The platform copies it.')],
  ['homepage_url', t('Homepage'), ''],
  ['privacy_url', t('Privacy policy'), ''],
  ['install_url', t('Install page'), t('Where customers go to install the app, if that starts on your site.')],
] as const

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Returns the fields that differ from the app, which alone are sent. */
const changesOf = (app: App, edited: Required<Edit>): Edit =>
  Object.fromEntries(
    Object.entries(edited).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(app[name as keyof App])),
  )

const Details = ({ app }: { app: App }) => {
  const shown = { ...app, ...app.pending_revision?.changes }
  const [text, setText] = useState({
    name: shown.name,
    summary: shown.summary,
    description: shown.description,
    logo_url: shown.logo_url ?? '',
    homepage_url: shown.homepage_url ?? '',
    privacy_url: shown.privacy_url ?? '',
    install_url: shown.install_url ?? '',
    support_email: app.support_email ?? '',
    redirect_uris: shown.redirect_uris.join('\n'),
  })
  const [category, setCategory] = useState(app.category ?? '')
  const [scopes, setScopes] = useState<readonly string[]>(shown.requested_scopes)
  const set = (name: keyof typeof text) => (value: string) => setText((now) => ({ ...now, [name]: value }))
  const send = async (): Promise<void> => {
    const orNull = (value: string) => value.trim() || null
    const edited = {
      name: text.name.trim(),
      summary: text.summary.trim(),
      description: text.description.trim(),
      category: (category || null) as Edit['category'],
      logo_url: orNull(text.logo_url),
      homepage_url: orNull(text.homepage_url),
      privacy_url: orNull(text.privacy_url),
      install_url: orNull(text.install_url),
      support_email: orNull(text.support_email),
      redirect_uris: linesOf(text.redirect_uris),
      requested_scopes: [...scopes],
    } as Required<Edit>
    const body = changesOf(app, edited)
    if (Object.keys(body).length === 0) return announce(t('Nothing has changed.'))
    const saved = await unwrap(api.PATCH('/api/v1/dev/apps/{id}', { params: { path: { id: app.id } }, body }))
    await refresh('app')
    announce(saved.pending_revision ? t('Saved. Moderators review the changes.') : t('Saved.'))
  }
  return (
    <section class="section">
      <h2>{t('Details')}</h2>
      {app.status === 'approved' && (
        <p class="hint">
          {t(
            'The app is listed, so moderators review changes of what customers see. Until then, customers see the present details.',
          )}
        </p>
      )}
      <Form verb={t('Save')} send={send} refused={refusalOf('PATCH /api/v1/dev/apps/{id}')}>
        {(failure) => {
          const wrong = fieldProblems(failure)
          return (
            <>
              <TextField
                label={t('Name')}
                value={text.name}
                required
                maxLength={60}
                problem={wrong.name}
                onText={set('name')}
              />
              <TextField
                label={t('Summary')}
                hint={t('One sentence for customers.')}
                value={text.summary}
                maxLength={140}
                problem={wrong.summary}
                onText={set('summary')}
              />
              <TextField
                label={t('Description')}
                rows={6}
                value={text.description}
                maxLength={10_000}
                problem={wrong.description}
                onText={set('description')}
              />
              <Field label={t('Category')} problem={wrong.category}>
                {(field) => (
                  <select
                    {...field}
                    value={category}
                    onChange={({ currentTarget }) => setCategory(currentTarget.value)}
                  >
                    <option value="">{t('None')}</option>
                    {Object.entries(CATEGORIES).map(([name, words]) => (
                      <option key={name} value={name}>
                        {words}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
              {ADDRESSES.map(([name, label, hint]) => (
                <TextField
                  key={name}
                  label={label}
                  hint={hint}
                  type="url"
                  value={text[name]}
                  maxLength={2_048}
                  problem={wrong[name]}
                  onText={set(name)}
                />
              ))}
              <TextField
                label={t('Support address')}
                hint={t('Email address that customers can write to.')}
                type="email"
                value={text.support_email}
                maxLength={254}
                problem={wrong.support_email}
                onText={set('support_email')}
              />
              <TextField
                label={t('Redirect URIs')}
                hint={t('Addresses that customers come back to after they approve the app. One per line.')}
                rows={3}
                value={text.redirect_uris}
                spellcheck={false}
                problem={wrong.redirect_uris}
                onText={set('redirect_uris')}
              />
              <fieldset>
                <legend>{t('Scopes that the app requests')}</legend>
                <div class="ticks">
                  {MANIFEST_SCOPES.map((scope) => (
                    <label class="tick" key={scope}>
                      <input
                        type="checkbox"
                        checked={scopes.includes(scope)}
                        onChange={({ currentTarget: { checked } }) =>
                          setScopes(checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                        }
                      />
                      <code>{scope}</code>
                    </label>
                  ))}
                </div>
              </fieldset>
            </>
          )
        }}
      </Form>
    </section>
  )
}

const OVERLAPS: Record<string, string> = {
  '': t('None: the old secret ends now'),
  '1': t('1 hour'),
  '24': t('24 hours'),
  '72': t('3 days'),
}

interface Revealed {
  title: string
  secrets: [label: string, value: string][]
}

const Secrets = ({ app }: { app: App }) => {
  const [asks, setAsks] = useState<'signing' | 'client'>()
  const [overlap, setOverlap] = useState('24')
  const [revealed, setRevealed] = useState<Revealed>()
  const params = { path: { id: app.id } }
  const rotateSigning = async (): Promise<void> => {
    const body = overlap ? { overlap_hours: Number(overlap) } : {}
    const made = await unwrap(api.POST('/api/v1/dev/apps/{id}/rotate-signing-secret', { params, body }))
    setRevealed({
      title: t('Store the new signing secret'),
      secrets: [
        [t('Signing secret'), made.signing_secret],
        [t('Signing secret for Standard Webhooks libraries'), made.standard_webhooks_secret],
      ],
    })
  }
  const rotateClient = async (): Promise<void> => {
    const made = await unwrap(api.POST('/api/v1/dev/apps/{id}/rotate-secret', { params }))
    clearSandboxTokens()
    setRevealed({ title: t('Store the new client secret'), secrets: [[t('Client secret'), made.client_secret]] })
  }
  const close = (): void => setAsks(undefined)
  return (
    <section class="section">
      <h2>{t('Secrets')}</h2>
      <ul class="rows">
        <li class="row folds">
          <span class="grow">
            <strong>{t('Signing secret')}</strong>
            <span class="soft">{t('Your agent checks with it that a request comes from the platform.')}</span>
          </span>
          {may('POST /api/v1/dev/apps/{id}/rotate-signing-secret') && (
            <button type="button" onClick={() => setAsks('signing')}>
              {t('Replace')}
            </button>
          )}
        </li>
        <li class="row folds">
          <span class="grow">
            <strong>{t('Client secret')}</strong>
            <span class="soft">
              {rich('Gets tokens for customers who install the app. Client ID: {client_id}', {
                client_id: <code>{app.client_id}</code>,
              })}
            </span>
          </span>
          {may('POST /api/v1/dev/apps/{id}/rotate-secret') && (
            <button type="button" onClick={() => setAsks('client')}>
              {t('Replace')}
            </button>
          )}
        </li>
      </ul>
      {asks === 'signing' && (
        <Modal title={t('Replace the signing secret?')} onClose={close}>
          <Form verb={t('Replace')} send={rotateSigning} done={close}>
            <p>
              {t('During the overlap, each request carries a signature of both secrets, so that you can change over.')}
            </p>
            <Field label={t('Overlap')}>
              {(field) => (
                <select {...field} value={overlap} onChange={({ currentTarget }) => setOverlap(currentTarget.value)}>
                  {Object.entries(OVERLAPS).map(([hours, words]) => (
                    <option key={hours} value={hours}>
                      {words}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </Form>
        </Modal>
      )}
      {asks === 'client' && (
        <Modal title={t('Replace the client secret?')} onClose={close}>
          <Form verb={t('Replace')} send={rotateClient} done={close}>
            <p>
              {t(
                'The old secret stops working now, and all access tokens of the app end. Refresh tokens stay valid: use them with the new secret.',
              )}
            </p>
          </Form>
        </Modal>
      )}
      {revealed && (
        <Modal title={revealed.title} onClose={() => setRevealed(undefined)}>
          {revealed.secrets.map(([label, value]) => (
            <Secret key={label} label={label} value={value} />
          ))}
        </Modal>
      )}
    </section>
  )
}

export default function Settings({ id }: { id: string }) {
  return (
    <AppScreen id={id} title={t('Settings')}>
      {(app) => (
        <div class="narrow">
          <Secrets app={app} />
          <Details key={`${app.id} ${app.pending_revision?.id ?? ''}`} app={app} />
          <Screenshots key={`screenshots ${app.id}`} app={app} />
        </div>
      )}
    </AppScreen>
  )
}
