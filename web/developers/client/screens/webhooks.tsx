import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { Name, State } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'
import { sandboxOf } from '../sandbox.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { may, refusalOf } from '../ui/roles.ts'
import { Secret } from '../ui/secret.tsx'
import { isReadable, NEW_WEBHOOK, WebhookFields, webhookBody } from '../ui/webhook-fields.tsx'

const Create = ({ app, onClose }: { app: App; onClose: () => void }) => {
  const [text, setText] = useState(NEW_WEBHOOK)
  const [secret, setSecret] = useState<string>()
  const send = async (): Promise<void> => {
    const { client, take } = sandboxOf(app.id)
    const body = webhookBody(text)
    const made = await take(client.POST('/api/v1/webhooks', { body: body as never }))
    await refresh(`app ${app.id} webhooks`)
    setSecret(made.secret)
  }
  return secret ? (
    <Modal title={t('Store the webhook’s secret')} onClose={onClose}>
      <Secret
        label={t('Secret')}
        hint={t('Verifies that an event comes from the platform. Shown only once.')}
        value={secret}
      />
    </Modal>
  ) : (
    <Modal title={t('Subscribe to events of the sandbox')} onClose={onClose}>
      <Form verb={t('Subscribe')} send={send} disabled={!isReadable(text)}>
        {(failure) => <WebhookFields text={text} wrong={fieldProblems(failure)} onText={setText} />}
      </Form>
    </Modal>
  )
}

const Trigger = ({ app }: { app: App }) => {
  const [type, setType] = useState('run.succeeded')
  const send = async (): Promise<void> => {
    const { id } = await unwrap(
      api.POST('/api/v1/dev/sandbox/trigger', { body: { app_id: app.id, type: type.trim(), data: {} } }),
    )
    await refresh(`app ${app.id} webhooks`)
    announce(t('Sent the test event {id}.', { id }))
  }
  return (
    <section class="section card">
      <h2>{t('Send a test event')}</h2>
      <p class="soft">
        {t('Every subscription to its type gets a signed sample event of the sandbox. It has no other effect.')}
      </p>
      <Form verb={t('Send')} send={send}>
        <TextField label={t('Event type')} value={type} required spellcheck={false} onText={setType} />
      </Form>
    </section>
  )
}

const Webhooks = ({ app }: { app: App }) => {
  const [isOpen, setOpen] = useState(false)
  const { client, take } = sandboxOf(app.id)
  const list = usePages(`app ${app.id} webhooks`, (cursor) =>
    take(client.GET('/api/v1/webhooks', { params: { query: { limit: 50, ...(cursor && { cursor }) } } })),
  )
  // An app is installed in the sandbox with its first version.
  if (list.failure?.code === 'no_manifest')
    return (
      <Empty icon="plug" title={t('No webhooks before the first version')}>
        <p>{t('Publish a manifest. Then your sandbox has the app, and you can subscribe to its events.')}</p>
        <a class="button" href={`#/apps/${app.id}/versions`}>
          {t('Write the manifest')}
        </a>
      </Empty>
    )
  return (
    <>
      <div class="head">
        <h2>{t('Subscriptions in the sandbox')}</h2>
        {may('POST /api/v1/webhooks') && (
          <button type="button" class="primary" onClick={() => setOpen(true)}>
            {t('Subscribe')}
          </button>
        )}
      </div>
      <Shown known={list} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="plug" title={t('No subscriptions yet')}>
              <p>{t('Subscribe an address to get events of your sandbox, such as runs that end.')}</p>
            </Empty>
          ) : (
            <ul class="rows">
              {items.map(({ id, url, events, status }) => (
                <li key={id}>
                  <a class="row folds" href={`#/apps/${app.id}/webhooks/${id}`}>
                    <span class="grow">
                      <strong>
                        <Name>{url}</Name>
                      </strong>
                      <span class="soft">
                        <Name>{events.join(', ')}</Name>
                      </span>
                    </span>
                    <State name={status} label={status === 'active' ? t('Active') : t('Paused')} />
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
      {may('POST /api/v1/dev/sandbox/trigger') && <Trigger app={app} />}
      {isOpen && <Create app={app} onClose={() => setOpen(false)} />}
    </>
  )
}

export default function WebhooksScreen({ id }: { id: string }) {
  const refused = refusalOf('GET /api/v1/webhooks')
  return (
    <AppScreen id={id} title={t('Webhooks')}>
      {(app) =>
        refused ? (
          <Empty title={t('Webhooks of the sandbox')}>
            <p>{refused}</p>
          </Empty>
        ) : (
          <Webhooks app={app} />
        )
      }
    </AppScreen>
  )
}
