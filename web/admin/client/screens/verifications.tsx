import { webAddress } from '../../../session/text.ts'
import { refresh } from '../../../ui/data.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Choice, Filters, filters } from '../ui/filters.tsx'
import { Listing } from '../ui/listing.tsx'

type Application = Schemas['ModeratedVerification']

const Outside = ({ url }: { url: string }) => {
  const address = webAddress(url)
  return address ? (
    <a href={address} target="_blank" rel="noopener noreferrer">
      <Name>{url}</Name>
    </a>
  ) : (
    <Name>{url}</Name>
  )
}

const ToDecide = ({ id, decision }: { id: string; decision: 'approve' | 'reject' }) => (
  <Decide
    label={decision === 'approve' ? 'Verify' : 'Reject'}
    title={decision === 'approve' ? 'Give the verified badge?' : 'Reject this application?'}
    tone={decision === 'approve' ? 'primary' : 'danger'}
    reason={{ label: 'Reason', hint: 'Shown to the developer.' }}
    done={decision === 'approve' ? 'The developer is verified.' : 'The application is rejected.'}
    act={async (reason) => {
      await take(
        api.POST('/admin/verifications/{id}/decide', {
          params: { path: { id } },
          body: { decision, reason },
        }),
      )
      await refresh('verifications', 'developers', 'overview')
    }}
  >
    <p>
      {decision === 'approve'
        ? 'The developer and all of their apps show the badge at once.'
        : 'They may apply again. Say what is missing.'}
    </p>
  </Decide>
)

export default function Verifications() {
  const query = filters('status') as { status?: Application['status'] }
  return (
    <Screen title="Verifications">
      <p class="soft">Developers who ask for the verified badge.</p>
      <Filters>
        <Choice name="status" label="Status" options={['pending', 'approved', 'rejected']} />
      </Filters>
      <Listing
        name={`verifications ${JSON.stringify(query)}`}
        none="There is no such application."
        read={(at) => take(api.GET('/admin/verifications', { params: { query: { ...query, ...at } } }))}
      >
        {(one) => (
          <article class="entry-body">
            <p>
              <strong>
                <Name>{one.legal_name}</Name>
              </strong>{' '}
              <State name={one.status} />{' '}
              <span class="soft">
                <When at={one.created_at} />
              </span>
            </p>
            <dl class="facts">
              <dt>Website</dt>
              <dd>
                <Outside url={one.website} />
              </dd>
              <dt>E-mail</dt>
              <dd>
                <Name>{one.contact_email}</Name>
              </dd>
              <dt>Country</dt>
              <dd>{one.country}</dd>
              <dt>Registered as</dt>
              <dd>{one.registration_number ? <Name>{one.registration_number}</Name> : 'not said'}</dd>
              <dt>Developer</dt>
              <dd>
                <a href={`#/apps?developer=${one.developer_id}`}>
                  <code>{one.developer_id}</code>
                </a>
              </dd>
            </dl>
            <Prose text={one.about} />
            {one.reason && (
              <div class="note">
                <Prose text={one.reason} />
              </div>
            )}
            {one.status === 'pending' && (
              <div class="actions">
                <ToDecide id={one.id} decision="approve" />
                <ToDecide id={one.id} decision="reject" />
              </div>
            )}
          </article>
        )}
      </Listing>
    </Screen>
  )
}
