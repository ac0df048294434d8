import type { ComponentChildren } from 'preact'
import type { Failure } from '../session/failure.ts'
import { Announcements } from './announce.tsx'
import { Problem } from './problem.tsx'

/** How far a page is with letting somebody in. */
export type Phase =
  | { name: 'starting' }
  | { name: 'ready' }
  | { name: 'signed_out'; note: string }
  | { name: 'failed'; failure: Failure; again: () => void }

/**
 * A page with what it says before anybody is in. While somebody signs in again, what they were at stays below, untouched.
 * @param phase a {@link Phase}, or another of the page's own, which has an entrance
 * @param who whose page it is; somebody else's begins anew
 * @param entrance what to do to get in, where that is the person's turn
 */
export const Page = ({
  phase: { name, failure, again },
  who,
  entrance,
  children,
}: {
  phase: { name: string; failure?: Failure; again?: () => void }
  who: string | undefined
  entrance: ComponentChildren
  children: ComponentChildren
}) => {
  const ready = name === 'ready'
  return (
    <>
      {who && (
        <div key={who} hidden={!ready}>
          {children}
        </div>
      )}
      {!ready &&
        (entrance || (
          <main class="alone">
            {failure ? (
              <>
                <h1>That did not work</h1>
                <Problem failure={failure} retry={again} />
              </>
            ) : (
              <p role="status">One moment…</p>
            )}
          </main>
        ))}
      <Announcements />
    </>
  )
}
