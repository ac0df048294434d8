import { miniApp } from '../../session/config.ts'
import { postEvent } from '../../session/messenger.ts'
import { session } from '../../session/session.ts'
import { safeUrl } from '../../session/text.ts'
import { Page } from '../../ui/app.tsx'
import { Entrance, loadLater } from '../../ui/lazy.tsx'
import { t } from '../../ui/messages.ts'
import { identity, phase } from './account.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'

if (miniApp) {
  // Telegram's web view has no tabs, so external links open in the browser.
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[target="_blank"]') : null
    const address = safeUrl(link?.getAttribute('href'))
    if (!address) return
    event.preventDefault()
    postEvent('web_app_open_link', { url: address })
  })
}

const Unconfirmed = () => (
  <main class="alone">
    <h1>{t('We couldn’t verify who you are')}</h1>
    <p>{t('Your Telegram sign-in expired or was already used. Close this page and open it again in Telegram.')}</p>
    {miniApp && (
      <div class="actions">
        <button type="button" class="primary" onClick={() => postEvent('web_app_close')}>
          {t('Close')}
        </button>
      </div>
    )}
  </main>
)

const loadSignIn = () => import('./sign-in.tsx')
loadLater(loadSignIn)
// While other tabs are asked for their session.
if (!miniApp && !session()) loadSignIn().catch(() => {})

export const App = () => {
  const who = identity.value
  const now = phase.value
  return (
    <Page
      phase={now}
      who={who && `${who.user.id} ${who.workspace.id}`}
      entrance={
        (now.name === 'signed_out' && <Entrance load={loadSignIn} note={now.note} />) ||
        (now.name === 'unconfirmed' && <Unconfirmed />)
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
