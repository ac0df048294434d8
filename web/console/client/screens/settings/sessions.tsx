import { useAction } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh, useData } from '../../../../ui/data.ts'
import { Confirm } from '../../../../ui/dialog.tsx'
import { Problem } from '../../../../ui/problem.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Name, State, When } from '../../../../ui/text.tsx'
import { signOut } from '../../account.ts'
import { api, type Schemas, unwrap } from '../../api.ts'

const KEY = 'sessions'

const WAYS: Record<string, string> = {
  init_data: 'signed in from Telegram',
  widget: 'signed in with Telegram',
  passkey: 'signed in with a passkey',
}

/** Names the device of a session, as far as it is known. */
const deviceOf = ({ browser, system }: Schemas['PersonSession']): string =>
  browser && system ? `${browser} on ${system}` : (browser ?? system ?? 'Unknown device')

const Entry = ({ session }: { session: Schemas['PersonSession'] }) => {
  const { busy, failure, act } = useAction()
  const device = deviceOf(session)
  const end = async (): Promise<void> => {
    if (session.current) return signOut()
    await unwrap(api.DELETE('/console/sessions/{id}', { params: { path: { id: session.id } } }))
    announce('Signed out there.')
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
            {session.via && WAYS[session.via] ? `${WAYS[session.via]} ` : 'signed in '}
            <When at={session.created_at} />
            {session.address && (
              <>
                {' '}
                from <Name>{session.address}</Name>
              </>
            )}
            {' · last used '}
            <When at={session.last_used_at} />
          </span>
        </div>
        {session.current && <State name="active" label="This device" />}
        <button type="button" aria-busy={busy} onClick={() => act(end)}>
          Sign out
          <span class="unseen">
            {' '}
            <Name>{session.current ? 'here' : device}</Name>
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
          <p>You’re signed in on these devices. Each sign-in ends after 12 hours.</p>
          <ul class="rows">
            {items.map((session) => (
              <Entry key={session.id} session={session} />
            ))}
          </ul>
          {items.length > 1 && (
            <div class="actions">
              <Confirm
                label="Sign out everywhere else"
                title="Sign out everywhere else?"
                verb="Sign out"
                act={async () => {
                  await unwrap(api.DELETE('/console/sessions'))
                  announce('Signed out everywhere else.')
                  await refresh(KEY)
                }}
              >
                <p>Your other devices are signed out with their next request. You stay signed in here.</p>
              </Confirm>
            </div>
          )}
        </>
      )}
    </Shown>
  )
}
