import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Logo, Name, When } from '../../../ui/text.tsx'
import { identity, isAdmin } from '../account.ts'
import { api, type Schemas, take } from '../api.ts'
import { ScopeList } from './scopes.tsx'

/** What was granted to an app, and how to take it back. */
export const GrantCard = ({ grant }: { grant: Schemas['Grant'] }) => {
  const mayRevoke = isAdmin.value || grant.approved_by?.id === identity.value?.user.id
  return (
    <article class="card" aria-label={grant.app.name}>
      <div class="row plain">
        <Logo name={grant.app.name} url={grant.app.logo_url} />
        <span class="grow">
          <strong>
            <a href={`#/agents/${grant.installation_id}`}>
              <Name>{grant.app.name}</Name>
            </a>
            {grant.app.verified && <span class="soft"> · ✓ verified</span>}
          </strong>
          <span class="soft">
            {grant.approved_by && (
              <>
                Approved by <Name>{grant.approved_by.name}</Name>{' '}
              </>
            )}
            <When at={grant.created_at} /> ·{' '}
            {grant.last_used_at ? (
              <>
                last used <When at={grant.last_used_at} />
              </>
            ) : (
              'never used'
            )}
          </span>
        </span>
      </div>
      <ScopeList scopes={grant.scopes} />
      {mayRevoke && (
        <Confirm
          label="Take back"
          title={`Take back ${grant.app.name}’s access?`}
          verb="Take back"
          act={async () => {
            await take(api.DELETE('/console/grants/{id}', { params: { path: { id: grant.id } } }))
            announce('Taken back. The app is refused from now on.')
            await refresh('installations')
          }}
        >
          <p>
            Its service is refused from the next request on. The agent stays installed, without access by this grant.
          </p>
        </Confirm>
      )}
    </article>
  )
}
