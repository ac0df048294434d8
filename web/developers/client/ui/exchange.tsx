import { resolveUrl } from '../../../session/config.ts'
import { toFailure } from '../../../session/failure.ts'
import { useData } from '../../../ui/data.ts'
import { duration } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Exchange = Schemas['RunExchange']

const Headers = ({ headers }: { headers: Record<string, string> }) => (
  <dl class="headers">
    {Object.entries(headers).map(([name, value]) => (
      <div key={name}>
        <dt>
          <Name>{name}</Name>
        </dt>
        <dd>
          <Name>{value}</Name>
        </dd>
      </div>
    ))}
  </dl>
)

/** Indents JSON, so that it is readable. Other text isn't changed. */
const readable = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const Body = ({ label, body, truncated }: { label: string; body: string; truncated: boolean }) =>
  body === '' ? (
    <p class="soft">{t('No body.')}</p>
  ) : (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */}
      <section class="json" tabIndex={0} aria-label={label}>
        <pre>
          {readable(body)
            .split('\n')
            .map((line, i) => (
              <div key={i}>
                <Name>{line}</Name>
              </div>
            ))}
        </pre>
      </section>
      {truncated && <p class="hint">{t('Only the first 16 KiB are kept.')}</p>}
    </>
  )

/** Explains how the agent checks that a request comes from the platform, with the values of this one. */
const Signature = ({ headers }: { headers: Record<string, string> }) => {
  const signature = headers['x-svc-signature'] ?? ''
  const parts = signature.split(',').map((part) => part.split('='))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const signatures = parts.filter(([name]) => name === 'v1').map(([, value]) => value ?? '')
  return (
    <details>
      <summary>{t('How the agent checks the signature')}</summary>
      <ol class="steps">
        <li>
          {rich(
            'Take {code} from <code2>X-SVC-Signature</code2>: {time}. Refuse it if it’s more than 300 seconds from your clock.',
            { code: <code>t</code>, code2: (text) => <code>{text}</code>, time: <code>{time}</code> },
          )}
        </li>
        <li>
          {rich(
            'Put {time} before the raw bytes of the body, exactly as they arrived. A body that was parsed and written again has another signature.',
            { time: <code>{time}.</code> },
          )}
        </li>
        <li>{t('Compute the HMAC-SHA256 with the app’s signing secret (agsec_…), in hex.')}</li>
        <li>
          {rich('Compare it in constant time with {n, plural, one {} other {each of}} {name}: {signatures}.', {
            n: signatures.length,
            name: <code>v1</code>,
            signatures: <code class="wraps">{signatures.join(', ')}</code>,
          })}{' '}
          {signatures.length > 1 && t('There are two while an old secret is still valid. One match is enough.')}
        </li>
      </ol>
      <p class="soft">
        {rich(
          'The body above isn’t the signed one: the callback token and the values of settings are left out here. The SDKs check all of this. The headers webhook-id, webhook-timestamp and webhook-signature say the same for libraries of Standard Webhooks. <link>Guide: agents</link>',
          { link: (text) => <a href={resolveUrl('docs/agents')}>{text}</a> },
        )}
      </p>
    </details>
  )
}

const Entry = ({ exchange, many }: { exchange: Exchange; many: boolean }) => {
  const { attempt, sent_at, duration_ms, request, response, error, hint } = exchange
  return (
    <details class="card entry" open={!many}>
      <summary>
        {response ? (
          <State
            name={response.status < 300 ? 'ok' : 'failed'}
            label={t('HTTP {status}', { status: response.status })}
          />
        ) : (
          <State name="failed" label={t('No response')} />
        )}{' '}
        {many && <>{t('Attempt {attempt},', { attempt })} </>}
        <span class="soft">
          <When at={sent_at} />, {duration(duration_ms)}
        </span>
      </summary>
      <div class="evidence">
        <h3>{t('Request')}</h3>
        <p>
          <code>POST</code>{' '}
          <code class="wraps">
            <Name>{request.url}</Name>
          </code>
        </p>
        <Headers headers={request.headers} />
        <Body label={t('Body of the request')} {...request} />
        <Signature headers={request.headers} />
        <h3>{t('Response')}</h3>
        {response ? (
          <>
            <Headers headers={response.headers} />
            <Body label={t('Body of the response')} {...response} />
          </>
        ) : (
          error && (
            <p>
              <Name>{error}</Name>
            </p>
          )
        )}
        {hint && (
          <p class="note">
            <Name>{hint}</Name>
          </p>
        )}
      </div>
    </details>
  )
}

const load = async (app: string, run: string): Promise<{ items: Exchange[] }> => {
  try {
    const params = { path: { id: app, run } }
    return await unwrap(api.GET('/api/v1/dev/apps/{id}/runs/{run}/exchanges', { params }))
  } catch (error) {
    if (toFailure(error).status === 404) return { items: [] }
    throw error
  }
}

/** Requests and responses between a sandbox run and its agent. Customers' runs have none. */
export const Exchanges = ({ app, run }: { app: string; run: string }) => {
  const known = useData(`app ${app} run ${run} exchanges`, () => load(app, run))
  return (
    <section class="section">
      <h2>{t('Request and response')}</h2>
      <Shown known={known} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">
              {t('Nothing was sent to an address, for example because the agent runs on the platform.')}
            </p>
          ) : (
            items.map((exchange) => <Entry key={exchange.sent_at} exchange={exchange} many={items.length > 1} />)
          )
        }
      </Shown>
    </section>
  )
}
