import { useState } from 'preact/hooks'
import { refresh, useData } from '../../../../ui/data.ts'
import { Confirm, Modal } from '../../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../../ui/form.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Name, When } from '../../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../../api.ts'
import { RoleField } from '../../ui/role-field.tsx'
import { may, type Role, roleLabel } from '../../ui/roles.ts'
import { Secret } from '../../ui/secret.tsx'

type Key = Schemas['NamedDeveloperKey']

const LIVES: Record<string, string> = { 7: 'A week', 30: '30 days', 90: '90 days', 365: 'A year' }

const NewKey = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const [days, setDays] = useState('90')
  const [made, setMade] = useState<Schemas['NewNamedDeveloperKey']>()
  const send = async (): Promise<void> => {
    const body = { name: name.trim(), role, expires_in_days: Number(days) }
    setMade(await unwrap(api.POST('/api/v1/dev/me/keys', { body })))
    await refresh('keys')
  }
  return made ? (
    <Modal title="Store the key" onClose={onClose}>
      <Secret label={made.name} value={made.api_key} />
    </Modal>
  ) : (
    <Modal title="Create a key" onClose={onClose}>
      <Form verb="Create" send={send}>
        <TextField
          label="Name"
          hint="Such as the machine that uses it."
          value={name}
          required
          maxLength={100}
          onText={setName}
        />
        <RoleField label="Scope" value={role} onRole={setRole} />
        <Field label="Expires after">
          {(field) => (
            <select {...field} value={days} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
              {Object.entries(LIVES).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Modal>
  )
}

const EditKey = ({ known, onClose }: { known: Key; onClose: () => void }) => {
  const [name, setName] = useState(known.name)
  const [role, setRole] = useState<Role>(known.role)
  const send = async (): Promise<void> => {
    const params = { path: { id: known.id } }
    await unwrap(api.PATCH('/api/v1/dev/me/keys/{id}', { params, body: { name: name.trim(), role } }))
    await refresh('keys')
  }
  return (
    <Modal title={`Edit the key ${known.name}`} onClose={onClose}>
      <p class="soft">Changes apply to the key’s next request. For another expiry, create another key.</p>
      <Form verb="Save" send={send} done={onClose}>
        <TextField label="Name" value={name} required maxLength={100} onText={setName} />
        <RoleField label="Scope" value={role} onRole={setRole} />
      </Form>
    </Modal>
  )
}

const Entry = ({ known }: { known: Key }) => {
  const { id, name, role, created_at, expires_at, last_used_at } = known
  const [isOpen, setOpen] = useState(false)
  return (
    <li class="row folds">
      <span class="grow">
        <strong>
          <Name>{name}</Name>
        </strong>
        <span class="soft">
          {roleLabel(role)} · created <When at={created_at} />, expires <When at={expires_at} /> ·{' '}
          {last_used_at ? (
            <>
              last used <When at={last_used_at} />
            </>
          ) : (
            'not used yet'
          )}
        </span>
      </span>
      {may('owner') && (
        <>
          <button type="button" class="quiet" onClick={() => setOpen(true)}>
            Edit
            <span class="unseen">
              {' '}
              the key <Name>{name}</Name>
            </span>
          </button>
          <Confirm
            quiet
            label="Delete"
            title={`Delete the key ${name}?`}
            verb="Delete"
            act={async () => {
              await unwrap(api.DELETE('/api/v1/dev/me/keys/{id}', { params: { path: { id } } }))
              await refresh('keys')
            }}
          >
            <p>Whatever uses it is refused from its next request.</p>
          </Confirm>
        </>
      )}
      {isOpen && <EditKey known={known} onClose={() => setOpen(false)} />}
    </li>
  )
}

/** The account's named keys, for machines. */
export const Keys = () => {
  const [isOpen, setOpen] = useState(false)
  const known = useData('keys', () => unwrap(api.GET('/api/v1/dev/me/keys')))
  return (
    <section class="section">
      <div class="head">
        <h2>Keys</h2>
        {may('owner') && (
          <button type="button" onClick={() => setOpen(true)}>
            Create a key
          </button>
        )}
      </div>
      <p class="soft">
        For machines: CI, the command line, your server. Lost your main key? Sign in by email, and use a named key
        instead.{!may('owner') && ' Owners create and delete keys.'}
      </p>
      <Shown known={known} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">No named keys.</p>
          ) : (
            <ul class="rows">
              {items.map((key) => (
                <Entry key={key.id} known={key} />
              ))}
            </ul>
          )
        }
      </Shown>
      {isOpen && <NewKey onClose={() => setOpen(false)} />}
    </section>
  )
}
