import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Initials, Name, State, When } from '../../../ui/text.tsx'
import { identity, reloadIdentity, signOut } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { RoleField } from '../ui/role-field.tsx'
import { may, ROLES, type Role, roleLabel } from '../ui/roles.ts'

type Member = Schemas['DeveloperMember']

const Invite = ({ onClose }: { onClose: () => void }) => {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/members', { body: { email: email.trim(), role } }))
    await refresh('members')
    announce(`Sent an invitation to ${email.trim()}.`)
  }
  return (
    <Modal title="Invite a teammate" onClose={onClose}>
      <Form verb="Send the invitation" send={send} done={onClose}>
        {(failure) => (
          <>
            <TextField
              label="Email"
              type="email"
              hint="Gets a link that works once, within 7 days. Your teammate signs in with this address."
              value={email}
              required
              maxLength={254}
              problem={fieldProblems(failure).email}
              onText={setEmail}
            />
            <RoleField label="Role" value={role} onRole={setRole} />
          </>
        )}
      </Form>
    </Modal>
  )
}

const EditRole = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const [role, setRole] = useState<Role>(member.role)
  const send = async (): Promise<void> => {
    const params = { path: { id: member.id } }
    await unwrap(api.PATCH('/api/v1/dev/members/{id}', { params, body: { role } }))
    if (member.id === identity.value?.member?.id) await reloadIdentity()
    await refresh('members')
  }
  return (
    <Modal title={`Role of ${member.name ?? member.email}`} onClose={onClose}>
      <p class="soft">The role holds from the next request, also where they are signed in.</p>
      <Form verb="Save" send={send} done={onClose}>
        <RoleField label="Role" value={role} onRole={setRole} />
      </Form>
    </Modal>
  )
}

const Entry = ({ member }: { member: Member }) => {
  const [isOpen, setOpen] = useState(false)
  const { busy, failure, act } = useAction()
  const isSelf = member.id === identity.value?.member?.id
  const isInvited = member.status === 'invited'
  const name = member.name ?? member.email
  const resend = async (): Promise<void> => {
    await unwrap(api.POST('/api/v1/dev/members', { body: { email: member.email, role: member.role } }))
    await refresh('members')
    announce(`Sent another link to ${member.email}. The earlier one stops working.`)
  }
  const remove = async (): Promise<void> => {
    await unwrap(api.DELETE('/api/v1/dev/members/{id}', { params: { path: { id: member.id } } }))
    if (isSelf) return signOut()
    await refresh('members')
  }
  return (
    <li>
      <div class="row folds">
        <Initials name={name} />
        <span class="grow">
          <strong>
            <Name>{name}</Name>
            {isSelf && ' (you)'}
          </strong>
          <span class="soft">
            {member.name && <Name>{member.email}</Name>}
            {member.invitation_expires_at && (
              <>
                Invitation ends <When at={member.invitation_expires_at} />
              </>
            )}
          </span>
        </span>
        {isInvited && <State name="pending" label="Invited" />}
        <span class="state">{roleLabel(member.role)}</span>
        {may('owner') && (
          <>
            {isInvited && (
              <button type="button" class="quiet" aria-busy={busy} onClick={() => act(resend)}>
                Send again
                <span class="unseen">
                  {' '}
                  to <Name>{name}</Name>
                </span>
              </button>
            )}
            <button type="button" class="quiet" onClick={() => setOpen(true)}>
              Change role
              <span class="unseen">
                {' '}
                of <Name>{name}</Name>
              </span>
            </button>
          </>
        )}
        {(may('owner') || isSelf) && (
          <Confirm
            quiet
            label={isSelf ? 'Leave' : isInvited ? 'Withdraw' : 'Remove'}
            title={isSelf ? 'Leave the account?' : `Remove ${name}?`}
            verb={isSelf ? 'Leave' : isInvited ? 'Withdraw the invitation' : 'Remove'}
            act={remove}
          >
            <p>
              {isInvited
                ? 'The link in the invitation stops working.'
                : 'Sessions end at once, and passkeys and links stop working. Replace the keys that they know.'}
            </p>
          </Confirm>
        )}
      </div>
      {failure && <Problem failure={failure} />}
      {isOpen && <EditRole member={member} onClose={() => setOpen(false)} />}
    </li>
  )
}

export default function Team() {
  const [isOpen, setOpen] = useState(false)
  const known = useData('members', () => unwrap(api.GET('/api/v1/dev/members')))
  const isConfirmed = identity.value?.email_verified
  return (
    <Screen
      title="Team"
      actions={
        may('owner') && (
          <button type="button" class="primary" disabled={!isConfirmed} onClick={() => setOpen(true)}>
            Invite a teammate
          </button>
        )
      }
    >
      <p class="soft">
        Everybody here works on the same apps and the same sandbox, and signs in with their own address.
      </p>
      {!isConfirmed && (
        <p class="note">
          Confirm the account’s email address before you invite somebody. <a href="#/account">Confirm it</a>
        </p>
      )}
      <Shown known={known} rows={2}>
        {({ items }) => (
          <ul class="rows">
            {items.map((member) => (
              <Entry key={member.id} member={member} />
            ))}
          </ul>
        )}
      </Shown>
      <section class="section">
        <h2>Roles</h2>
        <dl class="facts">
          {ROLES.map(([role, label, rights]) => (
            <>
              <dt key={role}>{label}</dt>
              <dd>{rights}</dd>
            </>
          ))}
        </dl>
      </section>
      {isOpen && <Invite onClose={() => setOpen(false)} />}
    </Screen>
  )
}
