import { useState } from 'preact/hooks'
import type { Failure } from '../../../../session/failure.ts'
import { sanitize } from '../../../../session/text.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh } from '../../../../ui/data.ts'
import { Modal } from '../../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../../ui/form.tsx'
import { fieldProblems } from '../../../../ui/problem.tsx'
import { api, type Schemas, unwrap } from '../../api.ts'

type Admin = Schemas['Admin']

const ROLES = { moderator: 'Moderator (view and moderate)', superadmin: 'Superadmin (full access)' }

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
      <TextField
        label="Name"
        problem={wrong.name}
        required
        maxLength={100}
        value={draft.name}
        autocomplete="off"
        onText={(text) => change({ name: text })}
      />
      <TextField
        label="Email"
        problem={wrong.email}
        type="email"
        required
        maxLength={254}
        value={draft.email}
        autocomplete="off"
        onText={(text) => change({ email: text })}
      />
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
      <TextField
        label={isNew ? 'Password' : 'New password'}
        hint={isNew ? 'At least 12 characters.' : 'At least 12 characters. Leave empty to keep the current password.'}
        problem={wrong.password}
        type="password"
        required={isNew}
        minLength={12}
        value={draft.password}
        autocomplete="new-password"
        onText={(text) => change({ password: text })}
      />
    </>
  )
}

const EMPTY: Draft = { email: '', name: '', role: 'moderator', password: '' }

export const Create = () => {
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
              announce('Account created.')
            }}
            send={async () => {
              await unwrap(api.POST('/admin/admins', { body: draft }))
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

export const Edit = ({ admin }: { admin: Admin }) => {
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
        Edit<span class="unseen"> {sanitize(admin.name)}</span>
      </button>
      {open && (
        <Modal title={`Edit ${admin.name}`} onClose={() => setOpen(false)}>
          <p class="soft">
            Changing the role, email or password signs them out with their next request. A new password also ends their
            API keys.
          </p>
          <Form
            verb="Save"
            done={() => setOpen(false)}
            send={async () => {
              // Unchanged fields aren't sent. They would end sessions and fill the audit log for nothing.
              const body = {
                ...(email !== admin.email && { email }),
                ...(name !== admin.name && { name }),
                ...(role !== admin.role && { role }),
                ...(password && { password }),
              }
              await unwrap(api.PATCH('/admin/admins/{id}', { params: { path: { id: admin.id } }, body }))
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
