import type { Failure } from '../../session/failure.ts'
import { stopCountdown } from './countdown.ts'
import { $, setText, showSection } from './dom.ts'

/** Final messages, by error code of the API or by an outcome known only to this page. */
const ENDS = {
  expired_consent_link: [
    'This link has expired',
    'Links can be used once, within 10 minutes. Start again from the app to get a new one.',
  ],
  not_found: [
    'You can’t use this link',
    'The request doesn’t exist, or someone else opened it first. Start again from the app to get your own link.',
  ],
  validation_error: ['This link is incomplete', 'Open it again from where you found it, or start again from the app.'],
  app_suspended: ['This app is suspended', 'You can’t give it access right now. Contact its developer for details.'],
  changed: [
    'This app has changed',
    'It can no longer request this access, so nothing was granted. Start again from the app.',
  ],
  no_connection: [
    'No connection',
    'We couldn’t reach the server, and no decision was made. Check your connection, then try again.',
  ],
  rate_limited: ['Too many attempts', 'Wait a moment, then try again.'],
  internal_error: ['Something went wrong on our end', 'Nothing was lost. Try again in a moment.'],
  handed_over: [
    'This request is closed',
    'It was decided, or it expired. You can close this tab and continue in the app that sent you here.',
  ],
  not_in_messenger: [
    'Open this link in Telegram',
    'This address only works inside Telegram. In a browser, use the web page instead.',
  ],
  unconfirmed: [
    'We couldn’t verify who you are',
    'Your Telegram sign-in expired or was already used. Close this page and open the link again in Telegram.',
  ],
  no_way_back: [
    'The app’s return address can’t be opened',
    'Your answer was saved, but a browser can’t open the address the app gave. Contact the app’s developer.',
  ],
} satisfies Record<string, [title: string, text: string]>

export type End = keyof typeof ENDS

/** Errors that may pass, so the page offers a retry. */
const PASSING: End[] = ['no_connection', 'rate_limited', 'internal_error']

interface Ways {
  /** Button. */
  again?: { label: string; act: () => void }
  link?: { label: string; href: string }
  requestId?: string
}

/** Shows the final message and the next step. */
export const showFinalMessage = (title: string, text: string, { again, link, requestId }: Ways = {}): void => {
  stopCountdown()
  setText('over-title', title)
  setText('over-text', text)
  $('over-id').hidden = !requestId
  setText('over-request', requestId ?? '')
  const button = $<HTMLButtonElement>('over-again')
  button.hidden = !again
  button.classList.toggle('primary', !link)
  if (again) {
    button.textContent = again.label
    button.onclick = again.act
  }
  const anchor = $<HTMLAnchorElement>('over-link')
  anchor.hidden = !link
  if (link) {
    anchor.textContent = link.label
    anchor.href = link.href
  }
  document.title = title
  showSection('over')
}

export const showOutcome = (name: End, ways?: Ways): void => showFinalMessage(...(ENDS[name] as [string, string]), ways)

/** Shows an error as the final message, with a retry button if retrying may help. */
export const showError = ({ code, message, fix, requestId }: Failure, again: () => void) => {
  const name = (['insufficient_scope', 'invalid_redirect_uri'].includes(code) ? 'changed' : code) as End
  if (!(name in ENDS)) return showFinalMessage('Something went wrong', `${message} ${fix}`, { requestId })
  const passing = PASSING.includes(name)
  showOutcome(name, {
    ...(passing && { again: { label: 'Try again', act: again } }),
    ...(name === 'internal_error' && { requestId }),
  })
}
