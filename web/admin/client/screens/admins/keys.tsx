import { useState } from 'preact/hooks'
import { sanitize } from '../../../../session/text.ts'
import { refresh } from '../../../../ui/data.ts'
import { Modal } from '../../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../../ui/form.tsx'
import { fullTime } from '../../../../ui/format.ts'
import { Name, When } from '../../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../../api.ts'
import { Decide } from '../../ui/decide.tsx'
import { Listing } from '../../ui/listing.tsx'

type Admin = Schemas['Admin']
type Key = Schemas['AdminKey']

const Secret = ({ made, onClose }: { made: Schemas['NewAdminKey']; onClose: () => void }) => (
  <div class="note warn" role="status">
    <p>
      <strong>
        Copy the key <Name>{made.name}</Name> now. You won’t be able to see it again.
      </strong>
    </p>
    <p>
      <code>{made.key}</code>
    </p>
    <button type="button" onClick={onClose}>
      I’ve saved it
    </button>
  </div>
)

const Keys = ({ admin }: { admin: Admin }) => {
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [made, setMade] = useState<Schemas['NewAdminKey']>()
  const at = (key: Key) => ({ params: { path: { id: admin.id, key: key.id } } })
  const again = () => refresh(`keys ${admin.id}`)
  return (
    <>
      {made && <Secret made={made} onClose={() => setMade(undefined)} />}
      <Listing
        name={`keys ${admin.id}`}
        none="No keys"
        read={(page) => unwrap(api.GET('/admin/admins/{id}/keys', { params: { path: { id: admin.id }, query: page } }))}
      >
        {(key) => (
          <article class="entry-body">
            <p>
              <strong>
                <Name>{key.name}</Name>
              </strong>{' '}
              <span class="soft">
                created <When at={key.rotated_at ?? key.created_at} /> · expires {fullTime(key.expires_at)}
              </span>
            </p>
            <div class="actions">
              <Decide
                label="Replace"
                title={`Replace the key ${key.name}?`}
                done="Key replaced."
                act={async () => {
                  setMade(
                    await unwrap(
                      api.POST('/admin/admins/{id}/keys/{key}/rotate', { ...at(key), body: { expires_in_days: 90 } }),
                    ),
                  )
                  await again()
                }}
              >
                <p>The old key stops working right away. The new key is valid for 90 days.</p>
              </Decide>
              <Decide
                label="Remove"
                title={`Remove the key ${key.name}?`}
                tone="danger"
                done="Key removed."
                act={async () => {
                  await unwrap(api.DELETE('/admin/admins/{id}/keys/{key}', at(key)))
                  await again()
                }}
              >
                <p>Anything that uses this key stops working right away.</p>
              </Decide>
            </div>
          </article>
        )}
      </Listing>
      <Form
        verb="Create key"
        send={async () => {
          const body = { name: name.trim(), expires_in_days: Number(days) }
          setMade(await unwrap(api.POST('/admin/admins/{id}/keys', { params: { path: { id: admin.id } }, body })))
          setName('')
          await again()
        }}
      >
        <div class="filters">
          <TextField label="Purpose" required maxLength={100} value={name} onText={setName} />
          <Field label="Days until it expires">
            {(field) => (
              <input
                {...field}
                type="number"
                required
                min={1}
                max={365}
                value={days}
                onInput={({ currentTarget }) => setDays(currentTarget.value)}
              />
            )}
          </Field>
        </div>
      </Form>
    </>
  )
}

export const KeysOf = ({ admin }: { admin: Admin }) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Keys<span class="unseen"> of {sanitize(admin.name)}</span>
      </button>
      {open && (
        <Modal title={`Keys of ${admin.name}`} onClose={() => setOpen(false)}>
          <p class="soft">
            Send a key in the <code>X-Admin-Key</code> header. It has the account’s role.
          </p>
          <Keys admin={admin} />
        </Modal>
      )}
    </>
  )
}
