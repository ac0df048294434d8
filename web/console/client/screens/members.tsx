import { useState } from 'preact/hooks'
import { loadBotInfo } from '../../../session/sign-in.ts'
import { safeUrl } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Field, Form } from '../../../ui/form.tsx'
import { fullTime } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Initials, Name, State, When } from '../../../ui/text.tsx'
import { identity, isAdmin, isOwner, roleName, signOut } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'

type Member = Schemas['ConsoleMember']
type Invitation = Schemas['Invitation']
type Role = Member['role']

const ROLES: Role[] = ['member', 'admin', 'owner']
/** Roles the user may assign, which are never above their own. */
const givable = (): Role[] => (isOwner.value ? ROLES : ['member', 'admin'])

const Invite = ({ onClose }: { onClose: () => void }) => {
  const [role, setRole] = useState<Role>('member')
  const [link, setLink] = useState('')
  const send = async (): Promise<void> => {
    const made = await unwrap(api.POST('/console/invitations', { body: { role, expires_in: 7 * 86_400 } }))
    const url = safeUrl((await loadBotInfo())?.url)
    setLink(url ? `${url}?start=${made.start_parameter}` : made.start_parameter)
    await refresh('invitations')
  }
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(link)
      announce(t('Link copied.'))
    } catch {
      announce(t('Couldn’t copy the link. Select it and copy it yourself.'))
    }
  }
  return (
    <Modal title={t('Invite someone')} onClose={onClose}>
      {link ? (
        <>
          <p>
            {t('Send this link to one person. It works once and expires in 7 days. You won’t be able to see it again.')}
          </p>
          <Field label={t('Link')}>
            {(field) => <input {...field} readOnly value={link} onFocus={(event) => event.currentTarget.select()} />}
          </Field>
          <div class="actions">
            <button type="button" class="primary" onClick={copy}>
              {t('Copy link')}
            </button>
            <button type="button" onClick={onClose}>
              {t('Done')}
            </button>
          </div>
        </>
      ) : (
        <Form verb={t('Create link')} send={send}>
          <Field label={t('Role')}>
            {(field) => (
              <select {...field} value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
                {givable().map((one) => (
                  <option key={one} value={one}>
                    {roleName(one)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </Form>
      )}
    </Modal>
  )
}

const MemberRow = ({ member }: { member: Member }) => {
  const { failure, act } = useAction()
  const me = member.id === identity.value?.user.id
  const mayChange = isAdmin.value && !me && (isOwner.value || member.role !== 'owner')
  const path = { id: member.id }
  const change = (role: Role) =>
    act(async () => {
      await unwrap(api.PATCH('/console/members/{id}', { params: { path }, body: { role } }))
      announce(
        t('{name}’s role is now {role, select, owner {owner} admin {admin} other {member}}.', {
          name: member.name,
          role,
        }),
      )
      await refresh('members')
    })
  return (
    <li>
      <div class="row folds">
        <Initials name={member.name} />
        <span class="grow">
          <strong>
            <Name>{member.name}</Name>
            {me && <span class="soft"> {t('(you)')}</span>}
          </strong>
          <span class="soft">
            {member.last_active_at && <>{rich('Active {time}', { time: <When at={member.last_active_at} /> })} · </>}
            {rich('Joined {time}', { time: <When at={member.joined_at} /> })}
            {member.contact && (
              <>
                {' · '}
                <a href={safeUrl(member.contact)} target="_blank" rel="noreferrer noopener">
                  {rich('Message<unseen> {name}</unseen> on Telegram', {
                    name: member.name,
                    unseen: (text) => <span class="unseen">{text}</span>,
                  })}
                </a>
              </>
            )}
          </span>
        </span>
        {mayChange ? (
          <select
            class="narrow"
            aria-label={t('Role of {name}', { name: member.name })}
            value={member.role}
            onChange={(event) => change(event.currentTarget.value as Role)}
          >
            {(givable().includes(member.role) ? givable() : ROLES).map((one) => (
              <option key={one} value={one}>
                {roleName(one)}
              </option>
            ))}
          </select>
        ) : (
          <span>{roleName(member.role)}</span>
        )}
        {(mayChange || me) && (
          <Confirm
            quiet
            label={me ? t('Leave') : rich('Remove{name}', { name: <span class="unseen"> {member.name}</span> })}
            title={me ? t('Leave this workspace?') : t('Remove {name}?', { name: member.name })}
            verb={me ? t('Leave') : t('Remove')}
            act={async () => {
              await unwrap(api.DELETE('/console/members/{id}', { params: { path } }))
              if (me) await signOut()
              else await refresh('members', 'invitations')
            }}
          >
            <p>
              {me
                ? t('You’ll be signed out. To come back, you’ll need a new invitation.')
                : t('They’ll be signed out of this workspace right away. To come back, they’ll need a new invitation.')}
            </p>
          </Confirm>
        )}
      </div>
      {failure && <Problem failure={failure} />}
    </li>
  )
}

const Invitations = () => {
  const invitations = usePages<Invitation>('invitations', (cursor) =>
    unwrap(api.GET('/console/invitations', { params: { query: cursor ? { cursor } : {} } })),
  )
  return (
    <section class="section" aria-labelledby="invitations">
      <h2 id="invitations">{t('Pending invitations')}</h2>
      <Shown known={invitations} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t('No pending invitations')} />
          ) : (
            <ul class="rows">
              {items.map((one) => (
                <li key={one.id} class="row folds">
                  <span class="grow">
                    <strong>
                      {t('Invitation as {role, select, owner {owner} admin {admin} other {member}}', {
                        role: one.role,
                      })}
                    </strong>
                    <span class="soft">
                      {rich('Created by {name} · expires {expires_at}', {
                        name: <Name>{one.created_by.name}</Name>,
                        expires_at: fullTime(one.expires_at),
                      })}
                    </span>
                  </span>
                  <State name="pending" label={t('Invited')} />
                  <Confirm
                    quiet
                    label={t('Revoke')}
                    title={t('Revoke this invitation?')}
                    verb={t('Revoke')}
                    act={async () => {
                      await unwrap(api.DELETE('/console/invitations/{id}', { params: { path: { id: one.id } } }))
                      await refresh('invitations')
                    }}
                  >
                    <p>{t('The link will stop working.')}</p>
                  </Confirm>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={invitations.more} />
    </section>
  )
}

export default function Members() {
  const [inviting, setInviting] = useState(false)
  const members = usePages<Member>('members', (cursor) =>
    unwrap(api.GET('/console/members', { params: { query: cursor ? { cursor } : {} } })),
  )
  return (
    <Screen
      title={t('Members')}
      actions={
        isAdmin.value && (
          <button type="button" class="primary" onClick={() => setInviting(true)}>
            {t('Invite someone')}
          </button>
        )
      }
    >
      {inviting && <Invite onClose={() => setInviting(false)} />}
      <Shown known={members} rows={4}>
        {({ items }) => (
          <ul class="rows">
            {items.map((member) => (
              <MemberRow key={member.id} member={member} />
            ))}
          </ul>
        )}
      </Shown>
      <More more={members.more} />
      {isAdmin.value && <Invitations />}
    </Screen>
  )
}
