import { safeUrl } from '../../../session/text.ts'
import { refresh } from '../../../ui/data.ts'
import { Choice, Filters, filters } from '../../../ui/filters.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'

type Application = Schemas['ModeratedVerification']

const ExternalLink = ({ url }: { url: string }) => {
  const address = safeUrl(url)
  return address ? (
    <a href={address} target="_blank" rel="noopener noreferrer">
      <Name>{url}</Name>
    </a>
  ) : (
    <Name>{url}</Name>
  )
}

const ApplicationDecision = ({ id, decision }: { id: string; decision: 'approve' | 'reject' }) => (
  <Decide
    label={decision === 'approve' ? 'Verify' : 'Reject'}
    title={decision === 'approve' ? 'Verify this developer?' : 'Reject this application?'}
    tone={decision === 'approve' ? 'primary' : 'danger'}
    reason={{ label: 'Reason', hint: 'Shown to the developer.' }}
    done={decision === 'approve' ? 'Developer verified.' : 'Application rejected.'}
    act={async (reason) => {
      await unwrap(
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
        ? 'The developer and all their apps get the verified badge right away.'
        : 'They can apply again. Explain what’s missing.'}
    </p>
  </Decide>
)

export default function Verifications() {
  const query = filters('status') as { status?: Application['status'] }
  return (
    <Screen title="Verifications">
      <p class="soft">Developers who have applied for the verified badge.</p>
      <Filters>
        <Choice name="status" label="Status" options={['pending', 'approved', 'rejected']} />
      </Filters>
      <Listing
        name={`verifications ${JSON.stringify(query)}`}
        none="No matching applications"
        read={(at) => unwrap(api.GET('/admin/verifications', { params: { query: { ...query, ...at } } }))}
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
                <ExternalLink url={one.website} />
              </dd>
              <dt>Email</dt>
              <dd>
                <Name>{one.contact_email}</Name>
              </dd>
              <dt>Country</dt>
              <dd>{one.country}</dd>
              <dt>Registration number</dt>
              <dd>{one.registration_number ? <Name>{one.registration_number}</Name> : 'Not provided'}</dd>
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
                <ApplicationDecision id={one.id} decision="approve" />
                <ApplicationDecision id={one.id} decision="reject" />
              </div>
            )}
          </article>
        )}
      </Listing>
    </Screen>
  )
}
