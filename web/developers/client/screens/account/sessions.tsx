import { useAction } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh, useData } from '../../../../ui/data.ts'
import { Confirm } from '../../../../ui/dialog.tsx'
import { rich, t } from '../../../../ui/messages.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Name, State, When } from '../../../../ui/text.tsx'
import { signOut } from '../../account.ts'
import { api, type Schemas, unwrap } from '../../api.ts'
import { roleLabel } from '../../ui/roles.ts'

const KEY = 'sessions'

type Session = Schemas['ListedDeveloperSession']

/** Names the person or the key of a session. */
const bearerOf = ({ member, key }: Session): string => member?.name ?? member?.email ?? key?.name ?? t('Main key')

/** Names the way that a session was opened. */
const wayOf = ({ via }: Session): string => {
  if (via === 'key') return t('with a key')
  if (via === 'passkey') return t('with a passkey')
  return via === 'invitation' ? t('with an invitation') : t('by email')
}

/** Names the device of a session, if known. */
const deviceOf = ({ browser, system }: Session): string =>
  browser && system ? t('{browser} on {system}', { browser, system }) : (browser ?? system ?? t('Unknown device'))

const Entry = ({ session }: { session: Session }) => {
  const { busy, failure, act } = useAction()
  const bearer = bearerOf(session)
  const end = async (): Promise<void> => {
    if (session.current) return signOut()
    await unwrap(api.DELETE('/api/v1/dev/sessions/{id}', { params: { path: { id: session.id } } }))
    announce(t('The session has ended.'))
    await refresh(KEY)
  }
  return (
    <li>
      <div class="row folds">
        <div class="grow">
          <strong>
            <Name>{bearer}</Name>
          </strong>
          <span class="soft">
            {rich('{role} · signed in {way} {time} · last used {time2}', {
              role: roleLabel(session.role),
              way: wayOf(session),
              time: <When at={session.created_at} />,
              time2: <When at={session.last_used_at} />,
            })}
            {' · '}
            <Name>{deviceOf(session)}</Name>
            {session.address && <> {rich('from {address}', { address: <Name>{session.address}</Name> })}</>}
          </span>
        </div>
        {session.current && <State name="active" label={t('This session')} />}
        <button type="button" class="quiet" aria-busy={busy} onClick={() => act(end)}>
          {rich('End<span> the session of {name}</span>', {
            name: <Name>{bearer}</Name>,
            span: (text) => <span class="unseen">{text}</span>,
          })}
        </button>
      </div>
      {failure && <Problem failure={failure} />}
    </li>
  )
}

/** Sessions of the portal: the account's for owners, otherwise the teammate's own. */
export const Sessions = () => {
  const known = useData(KEY, () => unwrap(api.GET('/api/v1/dev/sessions')))
  return (
    <section class="section">
      <h2>{t('Sessions')}</h2>
      <p class="soft">
        {t('Sign-ins to this portal. Each ends after 12 hours, or with the key or teammate that opened it.')}
      </p>
      <Shown known={known} rows={2}>
        {({ items }) => (
          <>
            <ul class="rows">
              {items.map((session) => (
                <Entry key={session.id} session={session} />
              ))}
            </ul>
            {items.some(({ current }) => !current) && (
              <div class="actions">
                <Confirm
                  label={t('End all other sessions')}
                  title={t('End all other sessions?')}
                  verb={t('End')}
                  act={async () => {
                    await unwrap(api.DELETE('/api/v1/dev/sessions'))
                    announce(t('All other sessions have ended.'))
                    await refresh(KEY)
                  }}
                >
                  <p>{t('They are refused from their next request on, with what they opened in the sandbox.')}</p>
                </Confirm>
              </div>
            )}
          </>
        )}
      </Shown>
    </section>
  )
}
