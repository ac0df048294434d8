import { useState } from 'preact/hooks'
import { refresh } from '../../../console/client/data.ts'
import { fullTime } from '../../../console/client/format.ts'
import { announce } from '../../../console/client/ui/announce.tsx'
import { Field, Form, Modal, Screen } from '../../../console/client/ui/kit.tsx'
import { fieldProblems } from '../../../console/client/ui/problem.tsx'
import { Name, When } from '../../../console/client/ui/text.tsx'
import type { Failure } from '../../../session/failure.ts'
import { clean } from '../../../session/text.ts'
import { identity } from '../account.ts'
import { api, type Schemas, take } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'

type Admin = Schemas['Admin']
type Key = Schemas['AdminKey']

const ROLES = { moderator: 'Moderator: moderation and reading', superadmin: 'Superadmin: everything' }

interface Draft {
  email: string
  name: string
  role: Admin['role']
  password: string
}

const Fields = ({
  draft,
  change,
  failure,
  isNew,
}: {
  draft: Draft
  change: (part: Partial<Draft>) => void
  failure: Failure | undefined
  isNew?: boolean
}) => {
  const wrong = fieldProblems(failure)
  return (
    <>
      <Field label="Name" problem={wrong.name}>
        {(field) => (
          <input
            {...field}
            required
            maxLength={100}
            value={draft.name}
            autocomplete="off"
            onInput={({ currentTarget }) => change({ name: currentTarget.value })}
          />
        )}
      </Field>
      <Field label="E-mail" problem={wrong.email}>
        {(field) => (
          <input
            {...field}
            type="email"
            required
            maxLength={254}
            value={draft.email}
            autocomplete="off"
            onInput={({ currentTarget }) => change({ email: currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Role">
        {(field) => (
          <select
            {...field}
            value={draft.role}
            onChange={({ currentTarget }) => change({ role: currentTarget.value as Admin['role'] })}
          >
            {Object.entries(ROLES).map(([role, text]) => (
              <option key={role} value={role}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label={isNew ? 'Password' : 'New password'}
        hint={isNew ? 'At least 12 characters.' : 'At least 12 characters; empty to leave it.'}
        problem={wrong.password}
      >
        {(field) => (
          <input
            {...field}
            type="password"
            required={isNew}
            minLength={12}
            value={draft.password}
            autocomplete="new-password"
            onInput={({ currentTarget }) => change({ password: currentTarget.value })}
          />
        )}
      </Field>
    </>
  )
}

const EMPTY: Draft = { email: '', name: '', role: 'moderator', password: '' }

const Create = () => {
  const [open, setOpen] = useState(false)
  const [draft, setDraft] = useState(EMPTY)
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        New account
      </button>
      {open && (
        <Modal title="New account" onClose={() => setOpen(false)}>
          <Form
            verb="Create"
            done={() => {
              setOpen(false)
              setDraft(EMPTY)
              announce('The account is there.')
            }}
            send={async () => {
              await take(api.POST('/admin/admins', { body: draft }))
              await refresh('admins')
            }}
          >
            {(failure) => (
              <Fields isNew draft={draft} change={(part) => setDraft({ ...draft, ...part })} failure={failure} />
            )}
          </Form>
        </Modal>
      )}
    </>
  )
}

const Edit = ({ admin }: { admin: Admin }) => {
  const [open, setOpen] = useState(false)
  const [draft, setDraft] = useState<Draft>({ ...admin, password: '' })
  const { email, name, role, password } = draft
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setDraft({ ...admin, password: '' })
          setOpen(true)
        }}
      >
        Change<span class="unseen"> {clean(admin.name)}</span>
      </button>
      {open && (
        <Modal title={`Change ${admin.name}`} onClose={() => setOpen(false)}>
          <p class="soft">Another role, address or password ends their sessions at their next request.</p>
          <Form
            verb="Save"
            done={() => setOpen(false)}
            send={async () => {
              // What did not change is not sent: it would end their sessions, and stand in the audit, for nothing.
              const body = {
                ...(email !== admin.email && { email }),
                ...(name !== admin.name && { name }),
                ...(role !== admin.role && { role }),
                ...(password && { password }),
              }
              await take(api.PATCH('/admin/admins/{id}', { params: { path: { id: admin.id } }, body }))
              await refresh('admins')
            }}
          >
            {(failure) => <Fields draft={draft} change={(part) => setDraft({ ...draft, ...part })} failure={failure} />}
          </Form>
        </Modal>
      )}
    </>
  )
}

const Secret = ({ made, onClose }: { made: Schemas['NewAdminKey']; onClose: () => void }) => (
  <div class="note warn" role="status">
    <p>
      <strong>
        The key <Name>{made.name}</Name>, shown this once:
      </strong>
    </p>
    <p>
      <code>{made.key}</code>
    </p>
    <button type="button" onClick={onClose}>
      I have kept it
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
        none="The account has no key."
        read={(page) => take(api.GET('/admin/admins/{id}/keys', { params: { path: { id: admin.id }, query: page } }))}
      >
        {(key) => (
          <article class="entry-body">
            <p>
              <strong>
                <Name>{key.name}</Name>
              </strong>{' '}
              <span class="soft">
                made <When at={key.rotated_at ?? key.created_at} />, holds until {fullTime(key.expires_at)}
              </span>
            </p>
            <div class="actions">
              <Decide
                label="Replace"
                title={`Replace the key ${key.name}?`}
                done="The key is replaced."
                act={async () => {
                  setMade(
                    await take(
                      api.POST('/admin/admins/{id}/keys/{key}/rotate', { ...at(key), body: { expires_in_days: 90 } }),
                    ),
                  )
                  await again()
                }}
              >
                <p>The old one is refused from the next request on. The new one holds for 90 days.</p>
              </Decide>
              <Decide
                label="Remove"
                title={`Remove the key ${key.name}?`}
                tone="danger"
                done="The key is removed."
                act={async () => {
                  await take(api.DELETE('/admin/admins/{id}/keys/{key}', at(key)))
                  await again()
                }}
              >
                <p>Whatever uses it is refused from the next request on.</p>
              </Decide>
            </div>
          </article>
        )}
      </Listing>
      <Form
        verb="Make a key"
        send={async () => {
          const body = { name: name.trim(), expires_in_days: Number(days) }
          setMade(await take(api.POST('/admin/admins/{id}/keys', { params: { path: { id: admin.id } }, body })))
          setName('')
          await again()
        }}
      >
        <div class="filters">
          <Field label="What it is for">
            {(field) => (
              <input
                {...field}
                required
                maxLength={100}
                value={name}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Days">
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

const KeysOf = ({ admin }: { admin: Admin }) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Keys<span class="unseen"> of {clean(admin.name)}</span>
      </button>
      {open && (
        <Modal title={`Keys of ${admin.name}`} onClose={() => setOpen(false)}>
          <p class="soft">
            Sent as <code>X-Admin-Key</code>, with the account’s role.
          </p>
          <Keys admin={admin} />
        </Modal>
      )}
    </>
  )
}

export default function Admins() {
  return (
    <Screen title="Staff" actions={<Create />}>
      <Listing
        name="admins"
        none="There is nobody."
        read={(at) => take(api.GET('/admin/admins', { params: { query: at } }))}
      >
        {(admin) => (
          <article class="entry-body">
            <p>
              <strong>
                <Name>{admin.name}</Name>
              </strong>{' '}
              <span class="state">{admin.role}</span> {admin.id === identity.value?.id && <span class="soft">you</span>}
            </p>
            <p class="soft">
              <Name>{admin.email}</Name> · added <When at={admin.created_at} />
            </p>
            <div class="actions">
              <Edit admin={admin} />
              <KeysOf admin={admin} />
              <Decide
                label="Remove"
                about={admin.name}
                title={`Remove ${admin.name}?`}
                tone="danger"
                typed={admin.email}
                done="The account is removed."
                act={async () => {
                  await take(api.DELETE('/admin/admins/{id}', { params: { path: { id: admin.id } } }))
                  await refresh('admins')
                }}
              >
                <p>They are out at their next request, and so is whatever uses their keys.</p>
              </Decide>
            </div>
          </article>
        )}
      </Listing>
    </Screen>
  )
}
