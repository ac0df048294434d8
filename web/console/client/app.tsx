import { miniApp } from '../../session/config.ts'
import { tell } from '../../session/messenger.ts'
import { webAddress } from '../../session/text.ts'
import { Page } from '../../ui/app.tsx'
import { identity, phase } from './account.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

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

const Unconfirmed = () => (
  <main class="alone">
    <h1>The messaging app did not confirm who you are</h1>
    <p>Its sign-in is too old, or was used already. Close this and open it again from the chat.</p>
    {miniApp && (
      <div class="actions">
        <button type="button" class="primary" onClick={() => tell('web_app_close')}>
          Close
        </button>
      </div>
    )}
  </main>
)

export const App = () => {
  const who = identity.value
  const now = phase.value
  return (
    <Page
      phase={now}
      who={who && `${who.user.id} ${who.workspace.id}`}
      entrance={
        (now.name === 'signed_out' && <SignIn note={now.note} />) || (now.name === 'unconfirmed' && <Unconfirmed />)
      }
    >
      {who && (
        <Shell who={who}>
          <Screens />
        </Shell>
      )}
    </Page>
  )
}
