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

const KEY = 'sessions'

/** Names the way that a session was opened. */
const wayOf = (via: string): string => {
  if (via === 'init_data') return t('signed in from Telegram')
  if (via === 'widget') return t('signed in with Telegram')
  return via === 'passkey' ? t('signed in with a passkey') : t('signed in')
}

/** Names the device of a session, if known. */
const deviceOf = ({ browser, system }: Schemas['PersonSession']): string =>
  browser && system ? t('{browser} on {system}', { browser, system }) : (browser ?? system ?? t('Unknown device'))

const Entry = ({ session }: { session: Schemas['PersonSession'] }) => {
  const { busy, failure, act } = useAction()
  const device = deviceOf(session)
  const end = async (): Promise<void> => {
    if (session.current) return signOut()
    await unwrap(api.DELETE('/console/sessions/{id}', { params: { path: { id: session.id } } }))
    announce(t('Signed out there.'))
    await refresh(KEY)
  }
  return (
    <li>
      <div class="row folds">
        <div class="grow">
          <strong>
            <Name>{device}</Name>
          </strong>
          <span class="soft">
            {wayOf(session.via)} <When at={session.created_at} />
            {session.address && <> {rich('from {address}', { address: <Name>{session.address}</Name> })}</>}
            {' · '}
            {rich('last used {time}', { time: <When at={session.last_used_at} /> })}
          </span>
        </div>
        {session.current && <State name="active" label={t('This device')} />}
        <button type="button" aria-busy={busy} onClick={() => act(end)}>
          {t('Sign out')}
          <span class="unseen">
            {' '}
            <Name>{session.current ? t('here') : device}</Name>
          </span>
        </button>
      </div>
      {failure && <Problem failure={failure} />}
    </li>
  )
}

/** Devices that the user is signed in on. */
export const Sessions = () => {
  const known = useData(KEY, () => unwrap(api.GET('/console/sessions')))
  return (
    <Shown known={known} rows={2}>
      {({ items }) => (
        <>
          <p>{t('You’re signed in on these devices. Each sign-in ends after 12 hours.')}</p>
          <ul class="rows">
            {items.map((session) => (
              <Entry key={session.id} session={session} />
            ))}
          </ul>
          {items.length > 1 && (
            <div class="actions">
              <Confirm
                label={t('Sign out everywhere else')}
                title={t('Sign out everywhere else?')}
                verb={t('Sign out')}
                act={async () => {
                  await unwrap(api.DELETE('/console/sessions'))
                  announce(t('Signed out everywhere else.'))
                  await refresh(KEY)
                }}
              >
                <p>{t('Your other devices are signed out with their next request. You stay signed in here.')}</p>
              </Confirm>
            </div>
          )}
        </>
      )}
    </Shown>
  )
}
