import { useState } from 'preact/hooks'
import { sanitize } from '../../../../session/text.ts'
import { refresh } from '../../../../ui/data.ts'
import { Modal } from '../../../../ui/dialog.tsx'
import { identity } from '../../account.ts'
import { api, type Schemas, unwrap } from '../../api.ts'
import { Decide } from '../../ui/decide.tsx'
import { Listing } from '../../ui/listing.tsx'
import { SessionFacts } from '../account/sessions.tsx'

/** Sessions of an admin, with a way to end them and to reset the admin’s passkeys. */
export const SessionsOf = ({ admin }: { admin: Schemas['Admin'] }) => {
  const [open, setOpen] = useState(false)
  const at = { params: { path: { id: admin.id } } }
  const again = () => refresh(`sessions ${admin.id}`)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Sessions<span class="unseen"> of {sanitize(admin.name)}</span>
      </button>
      {open && (
        <Modal title={`Sessions of ${admin.name}`} onClose={() => setOpen(false)}>
          <Listing
            name={`sessions ${admin.id}`}
            none="Not signed in"
            read={(query) =>
              unwrap(api.GET('/admin/admins/{id}/sessions', { params: { path: { id: admin.id }, query } }))
            }
          >
            {(session) => (
              <article class="entry-body">
                <SessionFacts session={session} />
              </article>
            )}
          </Listing>
          {admin.id !== identity.value?.id && (
            <div class="actions">
              <Decide
                label="Sign out everywhere"
                title={`Sign ${admin.name} out everywhere?`}
                done="Signed out everywhere."
                act={async () => {
                  await unwrap(api.DELETE('/admin/admins/{id}/sessions', at))
                  await again()
                }}
              >
                <p>Their sessions end with the next request. Their API keys keep working.</p>
              </Decide>
              <Decide
                label="Remove passkeys"
                title={`Remove the passkeys of ${admin.name}?`}
                tone="danger"
                typed={admin.email}
                done="Passkeys removed."
                act={async () => {
                  await unwrap(api.DELETE('/admin/admins/{id}/passkeys', at))
                  await again()
                }}
              >
                <p>
                  For somebody who lost their passkeys. Their sessions end, and their next sign-in needs the password
                  only. Make sure that the request really comes from them.
                </p>
              </Decide>
            </div>
          )}
        </Modal>
      )}
    </>
  )
}
