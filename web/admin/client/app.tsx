import { Page } from '../../ui/app.tsx'
import { Entrance, loadLater } from '../../ui/lazy.tsx'
import { identity, phase } from './account.ts'
import { Confirmation } from './confirm.tsx'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'
import { FirstPasskey, SecondStep } from './sign-in-steps.tsx'

const loadSignIn = () => import('./sign-in.tsx')
loadLater(loadSignIn)

export const App = () => {
  const who = identity.value
  const now = phase.value
  return (
    <>
      <Page
        phase={now}
        who={who && `${who.id} ${who.role}`}
        entrance={
          (now.name === 'signed_out' && <Entrance load={loadSignIn} note={now.note} />) ||
          (now.name === 'confirm' && <SecondStep />) ||
          (now.name === 'add_passkey' && <FirstPasskey />)
        }
      >
        {who && (
          <Shell who={who}>
            <Screens />
          </Shell>
        )}
      </Page>
      <Confirmation />
    </>
  )
}
