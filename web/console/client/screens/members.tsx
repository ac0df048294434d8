import { useState } from 'preact/hooks'
import { botInfo } from '../../../session/sign-in.ts'
import { webAddress } from '../../../session/text.ts'
import { useAct } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Field, Form } from '../../../ui/form.tsx'
import { fullTime } from '../../../ui/format.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { identity, isAdmin, isOwner, signOut } from '../account.ts'
import { api, type Schemas, take } from '../api.ts'

type Member = Schemas['WorkspaceMember']
type Invitation = Schemas['Invitation']
type Role = Member['role']

const ROLES: Role[] = ['member', 'admin', 'owner']
/** Nobody gives a role above their own. */
const givable = (): Role[] => (isOwner.value ? ROLES : ['member', 'admin'])

const Invite = ({ onClose }: { onClose: () => void }) => {
  const [role, setRole] = useState<Role>('member')
  const [link, setLink] = useState('')
  const send = async (): Promise<void> => {
    const made = await take(api.POST('/console/invitations', { body: { role, expires_in: 7 * 86_400 } }))
    const url = webAddress((await botInfo())?.url)
    setLink(url ? `${url}?start=${made.start_parameter}` : made.start_parameter)
    await refresh('invitations')
  }
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(link)
      announce('Copied.')
    } catch {
      announce('Select the link and copy it.')
    }
  }
  return (
    <Modal title="Invite somebody" onClose={onClose}>
      {link ? (
        <>
          <p>Send this link to one person. It works once, for 7 days, and is shown only now.</p>
          <Field label="Link">
            {(field) => <input {...field} readOnly value={link} onFocus={(event) => event.currentTarget.select()} />}
          </Field>
          <div class="actions">
            <button type="button" class="primary" onClick={copy}>
              Copy the link
            </button>
            <button type="button" onClick={onClose}>
              Done
            </button>
          </div>
        </>
      ) : (
        <Form verb="Make a link" send={send}>
          <Field label="Role">
            {(field) => (
              <select {...field} value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
                {givable().map((one) => (
                  <option key={one}>{one}</option>
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
  const { failure, act } = useAct()
  const me = member.id === identity.value?.user.id
  const mayChange = isAdmin.value && !me && (isOwner.value || member.role !== 'owner')
  const path = { id: member.id }
  const change = (role: Role) =>
    act(async () => {
      await take(api.PATCH('/console/members/{id}', { params: { path }, body: { role } }))
      announce(`${member.name} is ${role} now.`)
      await refresh('members')
    })
  return (
    <li>
      <div class="row folds">
        <span class="grow">
          <strong>
            <Name>{member.name}</Name>
            {me && <span class="soft"> (you)</span>}
          </strong>
          <span class="soft">
            Here since <When at={member.joined_at} />
          </span>
        </span>
        {mayChange ? (
          <select
            class="narrow"
            aria-label={`Role of ${member.name}`}
            value={member.role}
            onChange={(event) => change(event.currentTarget.value as Role)}
          >
            {(givable().includes(member.role) ? givable() : ROLES).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        ) : (
          <span>{member.role}</span>
        )}
        {(mayChange || me) && (
          <Confirm
            quiet
            label={
              me ? (
                'Leave'
              ) : (
                <>
                  Remove<span class="unseen"> {member.name}</span>
                </>
              )
            }
            title={me ? 'Leave this workspace?' : `Remove ${member.name}?`}
            verb={me ? 'Leave' : 'Remove'}
            act={async () => {
              await take(api.DELETE('/console/members/{id}', { params: { path } }))
              if (me) await signOut()
              else await refresh('members', 'invitations')
            }}
          >
            <p>
              {me
                ? 'You get back in only with a new invitation. You are signed out here.'
                : 'Their sessions in this workspace end at once. They get back in only with a new invitation.'}
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
    take(api.GET('/console/invitations', { params: { query: cursor ? { cursor } : {} } })),
  )
  return (
    <section class="section" aria-labelledby="invitations">
      <h2 id="invitations">Open invitations</h2>
      <Shown known={invitations} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No invitation is open." />
          ) : (
            <ul class="rows">
              {items.map((one) => (
                <li key={one.id} class="row folds">
                  <span class="grow">
                    <strong>As {one.role}</strong>
                    <span class="soft">
                      By <Name>{one.created_by.name}</Name> · until {fullTime(one.expires_at)}
                    </span>
                  </span>
                  <Confirm
                    quiet
                    label="Take back"
                    title="Take the invitation back?"
                    verb="Take back"
                    act={async () => {
                      await take(api.DELETE('/console/invitations/{id}', { params: { path: { id: one.id } } }))
                      await refresh('invitations')
                    }}
                  >
                    <p>Its link is dead from then on.</p>
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
    take(api.GET('/console/members', { params: { query: cursor ? { cursor } : {} } })),
  )
  return (
    <Screen
      title="Members"
      actions={
        isAdmin.value && (
          <button type="button" class="primary" onClick={() => setInviting(true)}>
            Invite somebody
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
