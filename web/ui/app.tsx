import type { ComponentChildren } from 'preact'
import type { Failure } from '../session/failure.ts'
import { Announcements } from './announce.tsx'
import { t } from './messages.ts'
import { Problem } from './problem.tsx'

/** Sign-in state of the page. */
export type Phase =
  | { name: 'starting' }
  | { name: 'ready' }
  | { name: 'signed_out'; note: string }
  | { name: 'failed'; failure: Failure; again: () => void }

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
