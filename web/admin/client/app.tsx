import { Announcements } from '../../console/client/ui/announce.tsx'
import { Problem } from '../../console/client/ui/problem.tsx'
import { identity, phase } from './account.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const Alone = () => {
  const now = phase.value
  if (now.name === 'signed_out') return <SignIn note={now.note} />
  return (
    <main class="alone">
      {now.name === 'starting' && <p role="status">One moment…</p>}
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
        <div key={`${who.id} ${who.role}`} hidden={!ready}>
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
