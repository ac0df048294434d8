import { deviceName } from '../../../../session/passkey.ts'
import { refresh } from '../../../../ui/data.ts'
import { Name, When } from '../../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../../api.ts'
import { Decide } from '../../ui/decide.tsx'
import { Listing } from '../../ui/listing.tsx'

/** Browser, address and time of a sign-in. */
export const SessionFacts = ({ session }: { session: Schemas['AdminSession'] }) => (
  <>
    <p>
      <strong>{session.user_agent ? deviceName(session.user_agent) : 'Unknown browser'}</strong>{' '}
      {session.current && <span class="state">this session</span>}
    </p>
    <p class="soft">
      <Name>{session.source_ip ?? 'unknown address'}</Name> · since <When at={session.created_at} /> · with{' '}
      {session.confirmed_with === 'passkey' ? 'passkey' : 'password only'}
    </p>
  </>
)

/** The admin’s sessions. */
export const Sessions = () => (
  <>
    <Listing
      name="sessions"
      none="No sessions"
      read={(at) => unwrap(api.GET('/admin/me/sessions', { params: { query: at } }))}
    >
      {(session) => (
        <article class="entry-body">
          <SessionFacts session={session} />
          {!session.current && (
            <div class="actions">
              <Decide
                label="Sign out"
                about={`the session from ${session.source_ip ?? 'an unknown address'}`}
                title="Sign out this session?"
                done="Session signed out."
                act={async () => {
                  await unwrap(api.DELETE('/admin/me/sessions/{id}', { params: { path: { id: session.id } } }))
                  await refresh('sessions')
                }}
              >
                <p>It ends with its next request.</p>
              </Decide>
            </div>
          )}
        </article>
      )}
    </Listing>
    <div class="actions">
      <Decide
        label="Sign out all other sessions"
        title="Sign out all other sessions?"
        done="Other sessions signed out."
        act={async () => {
          await unwrap(api.DELETE('/admin/me/sessions'))
          await refresh('sessions')
        }}
      >
        <p>Your API keys keep working.</p>
      </Decide>
    </div>
  </>
)
