import { useState } from 'preact/hooks'
import { addPasskey, deviceName, hasPasskeys, removePasskey } from '../../../../session/passkey.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh } from '../../../../ui/data.ts'
import { Modal } from '../../../../ui/dialog.tsx'
import { Form, TextField } from '../../../../ui/form.tsx'
import { Name, When } from '../../../../ui/text.tsx'
import { api, unwrap } from '../../api.ts'
import { calls } from '../../passkeys.ts'
import { Decide } from '../../ui/decide.tsx'
import { Listing } from '../../ui/listing.tsx'

const again = () => Promise.all([refresh('passkeys'), refresh('sessions')])

const Add = () => {
  const [open, setOpen] = useState(false)
  const [name, setName] = useState(deviceName)
  if (!hasPasskeys) return <p class="hint">This browser can’t use passkeys.</p>
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Add a passkey
      </button>
      {open && (
        <Modal title="Add a passkey" onClose={() => setOpen(false)}>
          <Form
            verb="Continue"
            send={async () => {
              await addPasskey(calls, name.trim())
              await again()
            }}
            done={() => {
              setOpen(false)
              announce('Passkey added.')
            }}
          >
            <p>
              A passkey is this device’s fingerprint, face or PIN, or a security key. Once you have one, you sign in
              with your password and the passkey.
            </p>
            <TextField
              label="Name of the passkey"
              required
              maxLength={100}
              autocomplete="off"
              value={name}
              onText={setName}
            />
          </Form>
        </Modal>
      )}
    </>
  )
}

/** The admin’s passkeys. */
export const Passkeys = () => (
  <>
    <Listing
      name="passkeys"
      none="No passkeys"
      read={(at) => unwrap(api.GET('/admin/me/passkeys', { params: { query: at } }))}
    >
      {(passkey) => (
        <article class="entry-body">
          <p>
            <strong>
              <Name>{passkey.name}</Name>
            </strong>{' '}
            {passkey.backed_up && <span class="state">synced</span>}
          </p>
          <p class="soft">
            added <When at={passkey.created_at} /> ·{' '}
            {passkey.last_used_at ? (
              <>
                last used <When at={passkey.last_used_at} />
              </>
            ) : (
              'not used yet'
            )}
          </p>
          <div class="actions">
            <Decide
              label="Remove"
              about={passkey.name}
              title={`Remove the passkey ${passkey.name}?`}
              tone="danger"
              done="Passkey removed."
              act={async () => {
                await removePasskey(calls, passkey)
                await again()
              }}
            >
              <p>You can’t sign in with it any longer.</p>
            </Decide>
          </div>
        </article>
      )}
    </Listing>
    <div class="actions">
      <Add />
    </div>
  </>
)
