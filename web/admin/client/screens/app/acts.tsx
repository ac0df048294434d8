import { useAct } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh } from '../../../../ui/data.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { api, take } from '../../api.ts'
import type { Dossier } from '../../dossier.ts'
import { Decide } from '../../ui/decide.tsx'
import { ForSuperadmins } from '../../ui/superadmins.tsx'

const TOLD = { label: 'Reason', hint: 'Shown to the developer.' }

/** After anything that was decided: what shows the app, and what counts it. */
const again = (): Promise<unknown> => refresh('app ', 'apps', 'review', 'overview', 'checks', 'audit')

const Feature = ({ id, featured }: { id: string; featured: boolean }) => {
  const { busy, failure, act } = useAct()
  return (
    <>
      <button
        type="button"
        aria-busy={busy}
        onClick={() =>
          act(async () => {
            await take(
              api.POST('/admin/apps/{id}/curation', { params: { path: { id } }, body: { featured: !featured } }),
            )
            announce(featured ? 'It is not featured any more.' : 'It is featured.')
            await again()
          })
        }
      >
        {featured ? 'End featuring' : 'Feature'}
      </button>
      {failure && <Problem failure={failure} />}
    </>
  )
}

const KillSwitch = ({ app }: { app: Dossier['app'] }) => {
  const path = { params: { path: { id: app.id } } }
  return app.status === 'suspended' ? (
    <Decide
      label="End the suspension"
      title={`End the suspension of ${app.name}?`}
      typed={app.slug}
      done="The suspension is over."
      act={async () => {
        await take(api.POST('/admin/apps/{id}/unsuspend', path))
        await again()
      }}
    >
      <p>Its tokens work again, and it goes back to the status that it had. Runs that were cancelled stay cancelled.</p>
    </Decide>
  ) : (
    <Decide
      label="Suspend the app"
      title={`Suspend ${app.name}?`}
      verb="Suspend now"
      tone="danger"
      typed={app.slug}
      reason={TOLD}
      done="The app is suspended."
      act={async (reason) => {
        await take(api.POST('/admin/apps/{id}/suspend', { ...path, body: { reason } }))
        await again()
      }}
    >
      <p>
        The kill switch. Each of its tokens is refused from the next request on, its runs are cancelled, nothing more is
        handed to it, for <strong>every customer</strong>. It can be taken back.
      </p>
    </Decide>
  )
}

const Review = ({ app }: { app: Dossier['app'] }) => {
  const path = { params: { path: { id: app.id } } }
  const delisted = app.status === 'delisted'
  // Of what is shown here: the developer may have promoted another one since.
  const body = app.promoted_version === null ? {} : { promoted_version: app.promoted_version }
  return (
    <>
      <Decide
        label={delisted ? 'List again' : 'Approve'}
        title={delisted ? `List ${app.name} again?` : `Approve ${app.name}?`}
        tone="primary"
        done="The app is approved."
        act={async () => {
          await take(api.POST('/admin/apps/{id}/approve', { ...path, body }))
          await again()
        }}
      >
        <p>From then on customers find it in the marketplace and can install it.</p>
      </Decide>
      {app.status === 'in_review' && (
        <Decide
          label="Reject"
          title={`Reject ${app.name}?`}
          tone="danger"
          reason={TOLD}
          done="The app is rejected."
          act={async (reason) => {
            await take(api.POST('/admin/apps/{id}/reject', { ...path, body: { reason } }))
            await again()
          }}
        >
          <p>The developer reads the reason and may submit again.</p>
        </Decide>
      )}
    </>
  )
}

/** What can be done about an app, as its status allows. */
export const Acts = ({ dossier: { app, listing } }: { dossier: Dossier }) => (
  <section class="card acts">
    <h2>Decide</h2>
    {app.status === 'draft' && <p class="soft">A draft: its developer has not submitted it.</p>}
    <div class="actions">
      {(app.status === 'in_review' || app.status === 'delisted') && <Review app={app} />}
      {listing && <Feature id={app.id} featured={listing.featured_at !== null} />}
      {app.status === 'approved' && (
        <Decide
          label="Delist"
          title={`Delist ${app.name}?`}
          tone="danger"
          reason={TOLD}
          done="The app is delisted."
          act={async (reason) => {
            await take(api.POST('/admin/apps/{id}/delist', { params: { path: { id: app.id } }, body: { reason } }))
            await again()
          }}
        >
          <p>It leaves the marketplace and nobody installs it any more. Existing installations go on.</p>
        </Decide>
      )}
    </div>
    <h3>Kill switch</h3>
    <ForSuperadmins what="suspend an app, or end a suspension">
      <div class="actions">
        <KillSwitch app={app} />
      </div>
    </ForSuperadmins>
  </section>
)
