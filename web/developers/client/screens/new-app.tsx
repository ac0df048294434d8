import { useState } from 'preact/hooks'
import { saveItem } from '../../../session/store.ts'
import { refresh } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { identity } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { draftKey, firstManifest, slugOf, TEMPLATES, type Template } from '../templates.ts'
import { refusalOf } from '../ui/roles.ts'
import { Secret } from '../ui/secret.tsx'

const Secrets = ({ app, to }: { app: Schemas['CreatedApp']; to: string }) => (
  <Screen title={t('Store the app’s secrets')}>
    <p>{t('Your server needs them. You can replace them in the app’s settings, but not see them again.')}</p>
    <Secret
      label={t('Signing secret')}
      hint={t('Your agent checks with it that a request comes from the platform. Shown only once.')}
      value={app.signing_secret}
    />
    <Secret
      label={t('Signing secret for Standard Webhooks libraries')}
      hint={t('The same secret in the form that these libraries take. Shown only once.')}
      value={app.standard_webhooks_secret}
    />
    <Secret
      label={t('Client secret')}
      hint={t('Gets tokens for customers who install the app, with the client ID {client_id}. Shown only once.', {
        client_id: app.client_id,
      })}
      value={app.client_secret}
    />
    <div class="actions">
      <a class="button primary" href={`#${to}`}>
        {t('I’ve stored them')}
      </a>
    </div>
  </Screen>
)

export default function NewApp() {
  const [template, setTemplate] = useState<Template>(TEMPLATES[0] as Template)
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string>()
  const [summary, setSummary] = useState('')
  const [made, setMade] = useState<Schemas['CreatedApp']>()
  if (made) return <Secrets app={made} to={template.runtime ? `/apps/${made.id}/versions` : `/apps/${made.id}`} />
  const wanted = slug ?? slugOf(name)
  const send = async (): Promise<void> => {
    const about = { name: name.trim(), summary: summary.trim() }
    const body = { ...about, slug: wanted, type: template.type, requested_scopes: [...template.scopes] }
    const app = await unwrap(api.POST('/api/v1/dev/apps', { body }))
    const { runtime } = template
    if (runtime) saveItem(draftKey(app.id), firstManifest({ ...about, slug: wanted }, identity.value, runtime))
    void refresh('apps')
    setMade(app)
  }
  return (
    <Screen title={t('Create an app')} back={{ to: '/', label: t('Apps') }}>
      <Form verb={t('Create the app')} send={send} refused={refusalOf('POST /api/v1/dev/apps')}>
        {(failure) => {
          const wrong = fieldProblems(failure)
          return (
            <>
              <fieldset>
                <legend>{t('Start from')}</legend>
                <div class="choices">
                  {TEMPLATES.map((one) => (
                    <label class="tick card" key={one.name}>
                      <input
                        type="radio"
                        name="template"
                        checked={one === template}
                        onChange={() => setTemplate(one)}
                      />
                      <span>
                        <strong>{one.title}</strong>
                        <br />
                        <span class="soft">{one.words}</span>
                      </span>
                    </label>
                  ))}
                </div>
              </fieldset>
              <TextField label={t('Name')} value={name} required maxLength={60} problem={wrong.name} onText={setName} />
              <TextField
                label={t('Slug')}
                hint={t('Part of the app’s address in the marketplace. You can’t change it later.')}
                value={wanted}
                required
                maxLength={40}
                spellcheck={false}
                problem={failure?.code === 'slug_taken' ? failure.message : wrong.slug}
                onText={setSlug}
              />
              <TextField
                label={t('Summary')}
                hint={t('One sentence for customers.')}
                value={summary}
                required
                maxLength={140}
                problem={wrong.summary}
                onText={setSummary}
              />
            </>
          )
        }}
      </Form>
    </Screen>
  )
}
