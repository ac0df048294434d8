import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData, usePages } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Choice, Filters, filters, Search } from '../../../ui/filters.tsx'
import { Field, Form } from '../../../ui/form.tsx'
import { count, duration } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { navigate } from '../../../ui/router.ts'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { type SandboxSchemas, sandboxOf } from '../sandbox.ts'
import { AppScreen } from '../ui/app-screen.tsx'
import { may, refusalOf } from '../ui/roles.ts'
import { isReadable, textOf, WebhookFields, webhookBody } from '../ui/webhook-fields.tsx'

type Webhook = SandboxSchemas['Webhook']
type Delivery = SandboxSchemas['WebhookDelivery']

interface Of {
  app: string
  webhook: Webhook
}

const Edit = ({ app, webhook }: Of) => {
  const { client, take } = sandboxOf(app)
  const params = { path: { id: webhook.id } }
  const [text, setText] = useState(() => textOf(webhook))
  const { busy, failure, act } = useAction()
  const change = async (body: object, said: string): Promise<void> => {
    await take(client.PATCH('/api/v1/webhooks/{id}', { params, body: body as never }))
    await refresh(`app ${app} webhook`)
    announce(said)
  }
  const isActive = webhook.status === 'active'
  return (
    <section class="section card">
      <h2>{t('Subscription')}</h2>
      {webhook.last_error && (
        <p class="note warn">
          {rich('It was paused because deliveries failed: {last_error}', {
            last_error: <Name>{webhook.last_error}</Name>,
          })}
        </p>
      )}
      <Form
        verb={t('Save')}
        send={() => change(webhookBody(text), t('Saved.'))}
        disabled={!isReadable(text)}
        refused={refusalOf('PATCH /api/v1/webhooks/{id}')}
      >
        {(failure) => <WebhookFields text={text} wrong={fieldProblems(failure)} onText={setText} />}
      </Form>
      {failure && <Problem failure={failure} />}
      <div class="actions">
        {may('PATCH /api/v1/webhooks/{id}') && (
          <button
            type="button"
            aria-busy={busy}
            onClick={() =>
              act(() =>
                change({ status: isActive ? 'disabled' : 'active' }, isActive ? t('Paused.') : t('Active again.')),
              )
            }
          >
            {isActive ? t('Pause') : t('Resume')}
          </button>
        )}
        {may('DELETE /api/v1/webhooks/{id}') && (
          <Confirm
            label={t('Delete')}
            title={t('Delete the subscription?')}
            verb={t('Delete')}
            act={async () => {
              await take(client.DELETE('/api/v1/webhooks/{id}', { params }))
              await refresh(`app ${app} webhooks`)
              navigate(`/apps/${app}/webhooks`)
            }}
          >
            <p>{t('Deliveries that are still waiting are dropped.')}</p>
          </Confirm>
        )}
      </div>
    </section>
  )
}

const DeliveryEntry = ({ app, webhook, delivery }: Of & { delivery: Delivery }) => {
  const { client, take } = sandboxOf(app)
  const { busy, failure, act } = useAction()
  const last = delivery.attempts.at(-1)
  const redeliver = async (): Promise<void> => {
    const params = { path: { id: webhook.id, delivery: delivery.id } }
    await take(client.POST('/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver', { params }))
    announce(t('Sent again.'))
    await refresh(`app ${app} webhook`)
  }
  return (
    <li>
      <details class="entry">
        <summary>
          <State name={delivery.status} /> <code>{delivery.event_type}</code>{' '}
          {last && (
            <>
              <span class="soft">
                {last.response_code ?? t('no response')}, {duration(last.duration_ms)}
              </span>{' '}
            </>
          )}
          <span class="soft">
            <When at={delivery.created_at} />,{' '}
            {t('{n, plural, one {# attempt} other {# attempts}}', { n: delivery.attempt })}
          </span>
        </summary>
        <div class="evidence">
          {delivery.next_attempt_at && (
            <p>{rich('Next attempt {time}', { time: <When at={delivery.next_attempt_at} /> })}</p>
          )}
          <ol class="attempts">
            {delivery.attempts.map(({ n, at, duration_ms, response_code, response_body, error, hint }) => (
              <li key={`${n} ${at}`}>
                {rich('<strong>Attempt {n}</strong>: {response_code} in {duration_ms} {span}', {
                  n,
                  strong: (text) => <strong>{text}</strong>,
                  response_code: response_code ?? error ?? t('no response'),
                  duration_ms: duration(duration_ms),
                  span: (
                    <span class="soft">
                      <When at={at} />
                    </span>
                  ),
                })}
                {hint && (
                  <p>
                    <Name>{hint}</Name>
                  </p>
                )}
                {response_body && (
                  <pre class="body">
                    <Name>{response_body}</Name>
                  </pre>
                )}
              </li>
            ))}
          </ol>
          {failure && <Problem failure={failure} />}
          {may('POST /api/v1/webhooks/{id}/deliveries/{delivery}/redeliver') && (
            <button type="button" aria-busy={busy} onClick={() => act(redeliver)}>
              {t('Send again')}
            </button>
          )}
        </div>
      </details>
    </li>
  )
}

const Recover = ({ app, webhook }: Of) => {
  const { client, take } = sandboxOf(app)
  const [hours, setHours] = useState('1')
  const [at, setAt] = useState('')
  const send = async (): Promise<void> => {
    const since = (hours === '' ? new Date(at) : new Date(Date.now() - Number(hours) * 3_600_000)).toISOString()
    const params = { path: { id: webhook.id } }
    const { recovery } = await take(client.POST('/api/v1/webhooks/{id}/recover', { params, body: { since } }))
    announce(
      recovery.deliveries === 0
        ? t('Nothing failed in that time.')
        : recovery.is_complete
          ? t('{n, plural, one {Sending # delivery again.} other {Sending # deliveries again.}}', {
              n: recovery.deliveries,
            })
          : t('Sending at least {deliveries} deliveries again.', { deliveries: count(recovery.deliveries) }),
    )
    await refresh(`app ${app} webhook`)
  }
  return (
    <Form verb={t('Send again')} send={send}>
      <Field label={t('Everything that failed or was skipped in the last')}>
        {(field) => (
          <select {...field} value={hours} onChange={({ currentTarget }) => setHours(currentTarget.value)}>
            <option value="1">{t('Hour')}</option>
            <option value="24">{t('24 hours')}</option>
            <option value="168">{t('7 days')}</option>
            <option value="">{t('Since a time of your choice')}</option>
          </select>
        )}
      </Field>
      {hours === '' && (
        <Field label={t('Since')}>
          {(field) => (
            <input
              {...field}
              type="datetime-local"
              required
              value={at}
              onInput={({ currentTarget }) => setAt(currentTarget.value)}
            />
          )}
        </Field>
      )}
    </Form>
  )
}

/** Returns the masks that a text means: `run` stands for all types that begin with it. */
const masksOf = (text: string): string =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((mask) => (mask.includes('.') || mask === '*' ? mask.replace(/\.$/, '.*') : `${mask}.*`))
    .join()

const Deliveries = ({ app, webhook }: Of) => {
  const { client, take } = sandboxOf(app)
  const { busy, failure, act } = useAction()
  const params = { path: { id: webhook.id } }
  const { status, type } = filters('status', 'type')
  const list = usePages(`app ${app} webhook ${webhook.id} deliveries ${status ?? ''} ${type ?? ''}`, (cursor) => {
    const query = {
      limit: 50,
      ...(status && { status: status as Delivery['status'] }),
      ...(type && { types: masksOf(type) }),
      ...(cursor && { cursor }),
    }
    return take(client.GET('/api/v1/webhooks/{id}/deliveries', { params: { ...params, query } }))
  })
  const test = async (): Promise<void> => {
    const { delivered, response_code, error, hint } = await take(client.POST('/api/v1/webhooks/{id}/test', { params }))
    announce(
      delivered
        ? t('Delivered: the receiver answered {response_code}.', { response_code: response_code ?? '' })
        : t('Not delivered: {error}. {hint}', { error: error ?? response_code ?? '', hint: hint ?? '' }),
    )
    await refresh(`app ${app} webhook`)
  }
  return (
    <section class="section">
      <div class="head">
        <h2>{t('Deliveries')}</h2>
        <div class="actions">
          <button type="button" onClick={() => list.reload()}>
            {t('Refresh')}
          </button>
          {may('POST /api/v1/webhooks/{id}/test') && (
            <button type="button" aria-busy={busy} onClick={() => act(test)}>
              {t('Send a test delivery')}
            </button>
          )}
        </div>
      </div>
      {failure && <Problem failure={failure} />}
      <Filters>
        <Choice name="status" label={t('Status')} options={['pending', 'succeeded', 'failed', 'skipped']} />
        <Search name="type" label={t('Event type')} hint="run.*" />
      </Filters>
      <Shown known={list} rows={3}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={list.more ? t('None of the newest deliveries match') : t('No deliveries match')} />
          ) : (
            <ul class="rows">
              {items.map((delivery) => (
                <DeliveryEntry key={delivery.id} app={app} webhook={webhook} delivery={delivery} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
      {may('POST /api/v1/webhooks/{id}/recover') && (
        <section class="section card">
          <h2>{t('Recover')}</h2>
          <Recover app={app} webhook={webhook} />
        </section>
      )}
    </section>
  )
}

const Loaded = ({ app, id }: { app: string; id: string }) => {
  const { client, take } = sandboxOf(app)
  const known = useData(`app ${app} webhook ${id}`, () =>
    take(client.GET('/api/v1/webhooks/{id}', { params: { path: { id } } })),
  )
  return (
    <Shown known={known}>
      {(webhook) => (
        <>
          <Edit app={app} webhook={webhook} />
          <Deliveries app={app} webhook={webhook} />
        </>
      )}
    </Shown>
  )
}

export default function WebhookScreen({ id, webhook }: { id: string; webhook: string }) {
  const refused = refusalOf('GET /api/v1/webhooks/{id}') ?? refusalOf('GET /api/v1/webhooks/{id}/deliveries')
  return (
    <AppScreen id={id} title={t('Webhook')}>
      {() =>
        refused ? (
          <Empty title={t('Webhooks of the sandbox')}>
            <p>{refused}</p>
          </Empty>
        ) : (
          <Loaded app={id} id={webhook} />
        )
      }
    </AppScreen>
  )
}
