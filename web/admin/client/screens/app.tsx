import { safeUrl } from '../../../session/text.ts'
import { useData } from '../../../ui/data.ts'
import { count, fullTime, humanize } from '../../../ui/format.ts'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Json, Logo, Name, Prose, Stars, State, When } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'
import type { Dossier } from '../dossier.ts'
import { decideByKey } from '../ui/queue-keys.ts'
import { ReportView } from './abuse-reports.tsx'
import { Acts } from './app/acts.tsx'
import { Checks } from './app/checks.tsx'
import { Messages } from './app/messages.tsx'
import { Images, RevisionReview } from './app/revision.tsx'
import { Versions } from './app/versions.tsx'
import { ClaimButton } from './review.tsx'

const ExternalLink = ({ url }: { url: string | null }) => {
  const address = safeUrl(url)
  if (!url) return <span class="soft">none</span>
  return address ? (
    <a href={address} target="_blank" rel="noopener noreferrer">
      <Name>{url}</Name>
    </a>
  ) : (
    <Name>{url}</Name>
  )
}

const Facts = ({
  dossier: { app, developer, verification, listing, installations, reviews },
}: {
  dossier: Dossier
}) => (
  <section class="card">
    <dl class="facts">
      <dt>Developer</dt>
      <dd>
        {developer ? (
          <a href={`#/developers/${app.developer_id}`}>
            <Name>{developer.company ?? developer.name}</Name>
          </a>
        ) : (
          'Deleted'
        )}{' '}
        {verification === 'verified' && <span class="state good">✓ Verified</span>}
        {verification === 'pending' && <a href="#/verifications?status=pending">verification pending</a>}
        {developer?.status === 'blocked' && <State name="suspended" label="Blocked" />}{' '}
        <a href={`#/apps?developer=${app.developer_id}`}>All apps</a>
      </dd>
      <dt>Slug</dt>
      <dd>
        <code>{app.slug}</code> · {humanize(app.type)}
        {app.category && ` · ${humanize(app.category)}`}
      </dd>
      <dt>Listed in marketplace</dt>
      <dd>
        {listing ? (
          <>
            Yes, since <time dateTime={listing.listed_at}>{fullTime(listing.listed_at)}</time>
            {listing.featured_at && <span class="state act"> ★ Featured</span>}
          </>
        ) : (
          'No'
        )}
      </dd>
      <dt>Customers</dt>
      <dd>
        {count(installations)} {installations === 1 ? 'installation' : 'installations'} ·{' '}
        <Stars rating={reviews.average} count={reviews.count} /> <a href={`#/reviews?app=${app.id}`}>Reviews</a>
        {reviews.hidden > 0 && `, ${reviews.hidden} hidden`} · <a href={`#/runs?app=${app.id}`}>Runs</a>
      </dd>
      <dt>Logo</dt>
      <dd>
        <ExternalLink url={app.logo_url} />
      </dd>
      <dt>Homepage</dt>
      <dd>
        <ExternalLink url={app.homepage_url} />
      </dd>
      <dt>Privacy policy</dt>
      <dd>
        <ExternalLink url={app.privacy_url} />
      </dd>
      <dt>Support</dt>
      <dd>{app.support_email ? <Name>{app.support_email}</Name> : <span class="soft">none</span>}</dd>
      <dt>Requested scopes</dt>
      <dd>
        {app.requested_scopes.length === 0 ? (
          'None'
        ) : (
          <ul class="tags">
            {app.requested_scopes.map((scope) => (
              <li key={scope}>{scope}</li>
            ))}
          </ul>
        )}
      </dd>
      <dt>Summary</dt>
      <dd>{app.summary ? <Name>{app.summary}</Name> : <span class="soft">none</span>}</dd>
      {app.screenshots.length > 0 && (
        <>
          <dt>Images</dt>
          <dd>
            <Images own={app.screenshots} other={app.screenshots} mark="ins" />
          </dd>
        </>
      )}
    </dl>
    {app.description && (
      <details>
        <summary>Description</summary>
        <Prose text={app.description} />
      </details>
    )}
  </section>
)

/** Returns the reason of an entry, which is shown without expanding it. */
const reasonOf = (details: Record<string, unknown>): string | undefined =>
  typeof details.reason === 'string' ? details.reason : undefined

const History = ({ history, app }: { history: Dossier['history']; app: string }) => (
  <section class="section">
    <h2>History</h2>
    {history.length === 0 ? (
      <Empty title="No history yet" />
    ) : (
      <ol class="rows history">
        {history.map((entry) => (
          <li key={entry.id}>
            <details class="entry">
              <summary>
                <code>{entry.action}</code>{' '}
                <span class="soft">
                  {entry.actor.type} · <When at={entry.created_at} />
                </span>
                {reasonOf(entry.details) && (
                  <span class="reason">
                    “<Name>{reasonOf(entry.details) ?? ''}</Name>”
                  </span>
                )}
              </summary>
              <Json label={`Details of ${entry.action}`} value={{ actor: entry.actor, ...entry.details }} />
            </details>
          </li>
        ))}
      </ol>
    )}
    <p>
      <a href={`#/audit?subject=${app}`}>View in audit log</a>
    </p>
  </section>
)

const Status = ({ dossier: { app, claim, waiting } }: { dossier: Dossier }) => (
  <div class="marks">
    <State name={app.status} />
    {claim?.claimed_by && (
      <span class="state act">
        … Claimed by <Name>{claim.claimed_by.name}</Name>
        {claim.expires_at && (
          <>
            , ends <When at={claim.expires_at} />
          </>
        )}
      </span>
    )}
    {waiting.length > 0 && <ClaimButton app={app.id} claimedBy={claim?.claimed_by ?? null} />}
  </div>
)

export default function App({ id }: { id: string }) {
  const known = useData<Dossier>(`app ${id}`, () => unwrap(api.GET('/admin/apps/{id}', { params: { path: { id } } })))
  return (
    <Screen title={known.data?.app.name ?? 'App'} back={{ to: '/apps', label: 'Apps' }} wide>
      <Shown known={known} tall>
        {(dossier) => (
          <>
            <div class="app-head">
              <Logo name={dossier.app.name} path={dossier.app.logo_path} />
              <Status dossier={dossier} />
            </div>
            {dossier.app.status_reason && (
              <div class="note warn">
                <Prose text={dossier.app.status_reason} />
              </div>
            )}
            {dossier.waiting.length > 0 && (
              <p class="hint keys">
                With the focus below, <kbd>a</kbd> goes to Approve, <kbd>r</kbd> to Reject and <kbd>c</kbd> to Claim.{' '}
                <kbd>Enter</kbd> opens it.
              </p>
            )}
            {/* biome-ignore lint/a11y/noStaticElementInteractions: moves between buttons that work without it */}
            <div class="sides" onKeyDown={decideByKey}>
              <div>
                <RevisionReview app={dossier.app} />
                <Facts dossier={dossier} />
                <Checks key={dossier.app.id} app={dossier.app.id} waiting={dossier.waiting} />
                <Versions dossier={dossier} />
              </div>
              <div>
                <Acts dossier={dossier} />
                {dossier.abuse_reports.length > 0 && (
                  <section class="section">
                    <h2>Open abuse reports</h2>
                    <ul class="rows">
                      {dossier.abuse_reports.map((report) => (
                        <li key={report.id}>
                          <ReportView report={report} alone />
                        </li>
                      ))}
                    </ul>
                  </section>
                )}
                <Messages app={dossier.app.id} waitsFor={dossier.waits_for} />
                <History history={dossier.history} app={dossier.app.id} />
              </div>
            </div>
          </>
        )}
      </Shown>
    </Screen>
  )
}
