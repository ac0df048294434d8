import { Page } from '../../ui/app.tsx'
import { Entrance, loadLater } from '../../ui/lazy.tsx'
import { identity, nameOf, phase } from './account.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'

const loadSignIn = () => import('./sign-in.tsx')
loadLater(loadSignIn)

export const App = () => {
  const who = identity.value
  const now = phase.value
  return (
    <Page
      phase={now}
      who={who && nameOf(who)}
      entrance={now.name === 'signed_out' && <Entrance load={loadSignIn} note={now.note} />}
    >
      {who && (
        <Shell who={who}>
          <Screens />
        </Shell>
      )}
    </Page>
  )
}
