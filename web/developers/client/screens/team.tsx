import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { rich, t } from '../../../ui/messages.ts'
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
    announce(t('Sent an invitation to {email}.', { email: email.trim() }))
  }
  return (
    <Modal title={t('Invite a teammate')} onClose={onClose}>
      <Form verb={t('Send the invitation')} send={send} done={onClose}>
        {(failure) => (
          <>
            <TextField
              label={t('Email')}
              type="email"
              hint={t('Gets a link that works once, within 7 days. Your teammate signs in with this address.')}
              value={email}
              required
              maxLength={254}
              problem={fieldProblems(failure).email}
              onText={setEmail}
            />
            <RoleField label={t('Role')} value={role} onRole={setRole} />
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
    <Modal title={t('Role of {name}', { name: member.name ?? member.email })} onClose={onClose}>
      <p class="soft">{t('The role holds from the next request, also where they are signed in.')}</p>
      <Form verb={t('Save')} send={send} done={onClose}>
        <RoleField label={t('Role')} value={role} onRole={setRole} />
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
    announce(t('Sent another link to {email}. The earlier one stops working.', { email: member.email }))
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
            {isSelf && t(' (you)')}
          </strong>
          <span class="soft">
            {member.name && <Name>{member.email}</Name>}
            {member.invitation_expires_at &&
              rich('Invitation ends {time}', { time: <When at={member.invitation_expires_at} /> })}
          </span>
        </span>
        {isInvited && <State name="pending" label={t('Invited')} />}
        <span class="state">{roleLabel(member.role)}</span>
        {may('PATCH /api/v1/dev/members/{id}') && (
          <>
            {isInvited && (
              <button type="button" class="quiet" aria-busy={busy} onClick={() => act(resend)}>
                {rich('Send again<span> to {name}</span>', {
                  name: <Name>{name}</Name>,
                  span: (text) => <span class="unseen">{text}</span>,
                })}
              </button>
            )}
            <button type="button" class="quiet" onClick={() => setOpen(true)}>
              {rich('Change role<span> of {name}</span>', {
                name: <Name>{name}</Name>,
                span: (text) => <span class="unseen">{text}</span>,
              })}
            </button>
          </>
        )}
        {(may('POST /api/v1/dev/members') || isSelf) && (
          <Confirm
            quiet
            label={isSelf ? t('Leave') : isInvited ? t('Withdraw') : t('Remove')}
            title={isSelf ? t('Leave the account?') : t('Remove {name}?', { name })}
            verb={isSelf ? t('Leave') : isInvited ? t('Withdraw the invitation') : t('Remove')}
            act={remove}
          >
            <p>
              {isInvited
                ? t('The link in the invitation stops working.')
                : t('Sessions end at once, and passkeys and links stop working. Replace the keys that they know.')}
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
      title={t('Team')}
      actions={
        may('POST /api/v1/dev/members') && (
          <button type="button" class="primary" disabled={!isConfirmed} onClick={() => setOpen(true)}>
            {t('Invite a teammate')}
          </button>
        )
      }
    >
      <p class="soft">
        {t('Everybody here works on the same apps and the same sandbox, and signs in with their own address.')}
      </p>
      {!isConfirmed && (
        <p class="note">
          {rich('Confirm the account’s email address before you invite somebody. <link>Confirm it</link>', {
            link: (text) => <a href="#/account">{text}</a>,
          })}
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
        <h2>{t('Roles')}</h2>
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
