import { Page } from '../../ui/app.tsx'
import { identity, phase } from './account.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

export const App = () => {
  const who = identity.value
  const now = phase.value
  return (
    <Page phase={now} who={who?.id} entrance={now.name === 'signed_out' && <SignIn note={now.note} />}>
      {who && (
        <Shell who={who}>
          <Screens />
        </Shell>
      )}
    </Page>
  )
}
