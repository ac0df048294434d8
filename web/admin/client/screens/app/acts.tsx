import { useState } from 'preact/hooks'
import { useAction } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh } from '../../../../ui/data.ts'
import { humanize } from '../../../../ui/format.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { Name } from '../../../../ui/text.tsx'
import { api, unwrap } from '../../api.ts'
import type { Dossier } from '../../dossier.ts'
import { Decide } from '../../ui/decide.tsx'
import { ForSuperadmins } from '../../ui/superadmins.tsx'
import { AcceptSimilarName, accepting } from './accept.tsx'
import { useChecks } from './checks.tsx'

const REASON = { label: 'Reason', hint: 'Shown to the developer.' }

/** Reloads everything that shows or counts the app. */
export const reloadApp = (): Promise<unknown> => refresh('app ', 'apps', 'review', 'overview', 'checks', 'audit')

const Feature = ({ id, featured }: { id: string; featured: boolean }) => {
  const { busy, failure, act } = useAction()
  return (
    <>
      <button
        type="button"
        aria-busy={busy}
        onClick={() =>
          act(async () => {
            await unwrap(
              api.POST('/admin/apps/{id}/curation', { params: { path: { id } }, body: { featured: !featured } }),
            )
            announce(featured ? 'App no longer featured.' : 'App featured.')
            await reloadApp()
          })
        }
      >
        {featured ? 'Stop featuring' : 'Feature'}
      </button>
      {failure && <Problem failure={failure} />}
    </>
  )
}

const KillSwitch = ({ app }: { app: Dossier['app'] }) => {
  const path = { params: { path: { id: app.id } } }
  return app.status === 'suspended' ? (
    <Decide
      label="Lift suspension"
      title={`Lift the suspension of ${app.name}?`}
      typed={app.slug}
      done="Suspension lifted."
      act={async () => {
        await unwrap(api.POST('/admin/apps/{id}/unsuspend', path))
        await reloadApp()
      }}
    >
      <p>Its tokens will work again, and it returns to its previous status. Cancelled runs stay cancelled.</p>
    </Decide>
  ) : (
    <Decide
      label="Suspend app"
      title={`Suspend ${app.name}?`}
      verb="Suspend now"
      tone="danger"
      typed={app.slug}
      reason={REASON}
      done="App suspended."
      act={async (reason) => {
        await unwrap(api.POST('/admin/apps/{id}/suspend', { ...path, body: { reason } }))
        await reloadApp()
      }}
    >
      <p>
        This stops the app for <strong>every customer</strong>. Its tokens stop working right away, its runs are
        cancelled, and it receives no more work. You can lift the suspension later.
      </p>
    </Decide>
  )
}

const Review = ({ app, waiting }: Pick<Dossier, 'app' | 'waiting'>) => {
  const path = { params: { path: { id: app.id } } }
  const delisted = app.status === 'delisted'
  const [accepted, setAccepted] = useState(false)
  const failed = useChecks(app.id, waiting).known.data?.checks.filter(({ status }) => status === 'failed') ?? []
  // Names what is shown here, because the developer may have edited the app or promoted another version since.
  const body = {
    updated_at: app.updated_at,
    ...(app.promoted_version !== null && { promoted_version: app.promoted_version }),
    ...accepting(accepted),
  }
  return (
    <>
      <Decide
        label={delisted ? 'Relist' : 'Approve'}
        title={delisted ? `Relist ${app.name}?` : `Approve ${app.name}?`}
        tone="primary"
        done="App approved."
        act={async () => {
          await unwrap(api.POST('/admin/apps/{id}/approve', { ...path, body }))
          await reloadApp()
        }}
      >
        <p>Customers will be able to find it in the marketplace and install it.</p>
        {failed.length > 0 && (
          <div class="note warn">
            <p>
              <strong>{failed.length === 1 ? 'A check failed:' : `${failed.length} checks failed:`}</strong>
            </p>
            <ul>
              {failed.map(({ id, message }) => (
                <li key={id}>
                  {humanize(id)}: <Name>{message}</Name>
                </li>
              ))}
            </ul>
          </div>
        )}
        {failed.some(({ id }) => id === 'similar_name') && (
          <AcceptSimilarName accepted={accepted} onAccept={setAccepted} />
        )}
      </Decide>
      {app.status === 'in_review' && (
        <Decide
          label="Reject"
          title={`Reject ${app.name}?`}
          tone="danger"
          reason={REASON}
          done="App rejected."
          act={async (reason) => {
            await unwrap(api.POST('/admin/apps/{id}/reject', { ...path, body: { reason } }))
            await reloadApp()
          }}
        >
          <p>The developer will see your reason and can submit the app again.</p>
        </Decide>
      )}
    </>
  )
}

/** Moderation actions that the app's status allows. */
export const Acts = ({ dossier: { app, listing, waiting } }: { dossier: Dossier }) => (
  <section class="card acts">
    <h2>Decision</h2>
    {app.status === 'draft' && <p class="soft">This app is a draft. Its developer hasn’t submitted it yet.</p>}
    <div class="actions">
      {(app.status === 'in_review' || app.status === 'delisted') && <Review app={app} waiting={waiting} />}
      {listing && <Feature id={app.id} featured={listing.featured_at !== null} />}
      {app.status === 'approved' && (
        <Decide
          label="Delist"
          title={`Delist ${app.name}?`}
          tone="danger"
          reason={REASON}
          done="App delisted."
          act={async (reason) => {
            await unwrap(api.POST('/admin/apps/{id}/delist', { params: { path: { id: app.id } }, body: { reason } }))
            await reloadApp()
          }}
        >
          <p>It’s removed from the marketplace and can no longer be installed. Existing installations keep working.</p>
        </Decide>
      )}
    </div>
    <h3>Kill switch</h3>
    <ForSuperadmins what="suspend an app or lift a suspension">
      <div class="actions">
        <KillSwitch app={app} />
      </div>
    </ForSuperadmins>
  </section>
)
