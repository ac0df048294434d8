import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { type Failure, toFailure } from '../session/failure.ts'
import { whenReachable } from '../session/reachable.ts'
import { Announcements } from './announce.tsx'
import { t } from './messages.ts'
import { Problem } from './problem.tsx'

/** Sign-in state of the page. */
export type Phase =
  | { name: 'starting' }
  | { name: 'ready' }
  | { name: 'signed_out'; note: string }
  | { name: 'failed'; failure: Failure; again: () => void }

/** Loads the page's other parts when the browser is idle, so that they are there without a connection. */
const loadRest = (): (() => void) | undefined => {
  if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData) return undefined
  let stop = (): unknown => undefined
  const attempt = (): unknown =>
    window.loadRest?.().catch((error: unknown) => {
      if (toFailure(error).code === 'no_connection') stop = whenReachable(attempt)
    })
  // Not every browser can tell when it is idle.
  const whenIdle = window.requestIdleCallback ?? setTimeout
  whenIdle(attempt)
  return () => stop()
}

/**
 * Root of a page. While a user signs in again, their screen stays mounted but hidden, so that nothing is lost.
 * @param phase a {@link Phase}, or a page-specific phase that has an `entrance`
 * @param who key of the current user; the content is recreated when it changes
 * @param entrance sign-in form or a similar step the user has to take
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
  const isOffline = failure?.code === 'no_connection'
  useEffect(() => (isOffline && again ? whenReachable(again) : undefined), [isOffline, again])
  useEffect(() => (ready ? loadRest() : undefined), [ready])
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
                <h1>{t('Something went wrong')}</h1>
                <Problem failure={failure} retry={again} />
              </>
            ) : (
              <p role="status">{t('Loading…')}</p>
            )}
          </main>
        ))}
      <Announcements />
    </>
  )
}
