import { miniApp } from '../../session/config.ts'
import { tell } from '../../session/messenger.ts'
import { webAddress } from '../../session/text.ts'
import { identity, phase } from './account.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import { Announcements } from './ui/announce.tsx'
import { Problem } from './ui/problem.tsx'

if (miniApp) {
  // The messaging app’s view has no tabs: what leads elsewhere opens in the browser.
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[target="_blank"]') : null
    const address = webAddress(link?.getAttribute('href'))
    if (!address) return
    event.preventDefault()
    tell('web_app_open_link', { url: address })
  })
}

const Alone = () => {
  const now = phase.value
  if (now.name === 'signed_out') return <SignIn note={now.note} />
  return (
    <main class="alone">
      {now.name === 'starting' && <p role="status">One moment…</p>}
      {now.name === 'unconfirmed' && (
        <>
          <h1>The messaging app did not confirm who you are</h1>
          <p>Its sign-in is too old, or was used already. Close this and open it again from the chat.</p>
          {miniApp && (
            <div class="actions">
              <button type="button" class="primary" onClick={() => tell('web_app_close')}>
                Close
              </button>
            </div>
          )}
        </>
      )}
      {now.name === 'failed' && (
        <>
          <h1>That did not work</h1>
          <Problem failure={now.failure} retry={now.again} />
        </>
      )}
    </main>
  )
}

/** While somebody signs in again, what they were at stays below, untouched. */
export const App = () => {
  const who = identity.value
  const ready = phase.value.name === 'ready'
  return (
    <>
      {who && (
        <div key={`${who.user.id} ${who.workspace.id}`} hidden={!ready}>
          <Shell who={who}>
            <Screens />
          </Shell>
        </div>
      )}
      {!ready && <Alone />}
      <Announcements />
    </>
  )
}
