import type { Failure } from '../../session/failure.ts'
import { t } from '../../ui/messages.ts'
import { stopCountdown } from './countdown.ts'
import { $, setText, showSection } from './dom.ts'

/** Final messages, by error code of the API or by an outcome known only to this page. */
const ENDS = {
  expired_consent_link: [
    t('This link has expired'),
    t('Links can be used once, within 10 minutes. Start again from the app to get a new one.'),
  ],
  not_found: [
    t('You can’t use this link'),
    t('The request doesn’t exist, or someone else opened it first. Start again from the app to get your own link.'),
  ],
  validation_error: [
    t('This link is incomplete'),
    t('Open it again from where you found it, or start again from the app.'),
  ],
  app_suspended: [
    t('This app is suspended'),
    t('You can’t give it access right now. Contact its developer for details.'),
  ],
  changed: [
    t('This app has changed'),
    t('It can no longer request this access, so nothing was granted. Start again from the app.'),
  ],
  no_connection: [
    t('No connection'),
    t('We couldn’t reach the server, and no decision was made. Check your connection, then try again.'),
  ],
  rate_limited: [t('Too many attempts'), t('Wait a moment, then try again.')],
  internal_error: [t('Something went wrong on our end'), t('Nothing was lost. Try again in a moment.')],
  handed_over: [
    t('This request is closed'),
    t('It was decided, or it expired. You can close this tab and continue in the app that sent you here.'),
  ],
  not_in_messenger: [
    t('Open this link in Telegram'),
    t('This address only works inside Telegram. In a browser, use the web page instead.'),
  ],
  unconfirmed: [
    t('We couldn’t verify who you are'),
    t('Your Telegram sign-in expired or was already used. Close this page and open the link again in Telegram.'),
  ],
  no_way_back: [
    t('The app’s return address can’t be opened'),
    t('Your answer was saved, but a browser can’t open the address the app gave. Contact the app’s developer.'),
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
  if (!(name in ENDS)) return showFinalMessage(t('Something went wrong'), `${message} ${fix}`, { requestId })
  const passing = PASSING.includes(name)
  showOutcome(name, {
    ...(passing && { again: { label: t('Try again'), act: again } }),
    ...(name === 'internal_error' && { requestId }),
  })
}
