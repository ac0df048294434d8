import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { duration } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { announceUndoable } from './undo.ts'

type Webhook = Schemas['ConnectedWebhook']

const pathOf = ({ installation_id, id }: Webhook) => ({ path: { id: installation_id, webhook: id } })

const Deliveries = ({ webhook }: { webhook: Webhook }) => {
  const list = usePages(`installations webhook ${webhook.id}`, (cursor) =>
    unwrap(
      api.GET('/console/installations/{id}/webhooks/{webhook}/deliveries', {
        params: { ...pathOf(webhook), query: { limit: 20, ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <>
      <Shown known={list} rows={3}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">{t('Nothing was sent in the last 30 days.')}</p>
          ) : (
            <ul class="rows">
              {items.map(({ id, event_type, status, created_at, attempt, attempts }) => {
                const last = attempts.at(-1)
                return (
                  <li key={id} class="row">
                    <span class="grow">
                      <code>{event_type}</code>
                      <span class="soft">
                        <When at={created_at} /> ·{' '}
                        {t('{n, plural, one {# attempt} other {# attempts}}', { n: attempt })}
                        {last &&
                          ` · ${t('{code} in {time}', {
                            code: last.response_code ?? t('no response'),
                            time: duration(last.duration_ms),
                          })}`}
                      </span>
                    </span>
                    <State name={status} />
                  </li>
                )
              })}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
    </>
  )
}

const WebhookCard = ({ webhook }: { webhook: Webhook }) => {
  const { busy, failure, act } = useAction()
  const [open, setOpen] = useState(false)
  const { app, origin, events, description, status, last_error, created_at } = webhook
  const isPaused = status === 'paused'
  const turn = async (paused: boolean, isUndo = false): Promise<void> => {
    const params = pathOf(webhook)
    const now = await unwrap(
      paused
        ? api.POST('/console/installations/{id}/webhooks/{webhook}/pause', { params })
        : api.POST('/console/installations/{id}/webhooks/{webhook}/resume', { params }),
    )
    await refresh('installations')
    if (isUndo) return
    if (now.status === 'disabled') announce(t('Webhook resumed.'))
    else announceUndoable(paused ? t('Webhook paused.') : t('Webhook resumed.'), () => turn(!paused, true))
  }
  return (
    <article class="card" aria-label={t('{app} to {origin}', { app: app.name, origin })}>
      <div class="row plain">
        <Logo name={app.name} path={app.logo_path} />
        <span class="grow">
          <strong>
            <a href={`#/agents/${webhook.installation_id}`}>
              <Name>{app.name}</Name>
            </a>
          </strong>
          <span class="soft">
            {rich('sends to {origin} · since {time}', {
              origin: <Name>{origin}</Name>,
              time: <When at={created_at} />,
            })}
          </span>
        </span>
        <State name={status} />
      </div>
      {description && (
        <p>
          <Name>{description}</Name>
        </p>
      )}
      <p class="soft">
        {events.includes('*')
          ? t('All events that the app may read')
          : rich('Events: {events}', { events: <Name>{events.join(', ')}</Name> })}
      </p>
      {status === 'disabled' && (
        <p class="soft">
          {last_error
            ? rich('Disabled because deliveries failed: {error}', { error: <Name>{last_error}</Name> })
            : t('The app disabled it.')}
        </p>
      )}
      {isPaused && <p class="soft">{t('Nothing is sent. The app can’t enable it again.')}</p>}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t('Deliveries')}</summary>
        {open && <Deliveries webhook={webhook} />}
      </details>
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="button" aria-busy={busy} onClick={() => act(() => turn(!isPaused))}>
          {isPaused ? t('Resume') : t('Pause')}
          <span class="unseen"> {rich('the webhook of {app}', { app: <Name>{app.name}</Name> })}</span>
        </button>
      </div>
    </article>
  )
}

/** The webhooks of all installed apps, for admins. */
export const ConnectedWebhooks = () => {
  const list = usePages('installations webhooks', (cursor) =>
    unwrap(api.GET('/console/connected-webhooks', { params: { query: cursor ? { cursor } : {} } })),
  )
  return (
    <section class="further" aria-labelledby="webhooks">
      <h2 id="webhooks">{t('Webhooks')}</h2>
      <p class="soft">{t('Servers that apps have events of this workspace sent to.')}</p>
      <Shown known={list} rows={1} tall>
        {({ items }) =>
          items.length === 0 && !list.more ? (
            <Empty title={t('No app has events sent anywhere.')} />
          ) : (
            items.map((webhook) => <WebhookCard key={webhook.id} webhook={webhook} />)
          )
        }
      </Shown>
      <More more={list.more} />
    </section>
  )
}
