import type { Failure } from '../../session/failure.ts'
import { stopCountdown } from './countdown.ts'
import { $, say, show } from './dom.ts'

/** The ends that have words of their own. Codes of the API, and the page's own. */
const ENDS = {
  expired_consent_link: [
    'This link is over',
    'It was used already, or its 10 minutes have passed. Start again from the app to get a fresh link.',
  ],
  not_found: [
    'This link is not yours to decide',
    'There is no such request, or somebody else opened it first: then only they can decide. ' +
      'Start again from the app to get a link of your own.',
  ],
  validation_error: [
    'This link is not complete',
    'Open it again from where you found it, or start again from the app.',
  ],
  app_suspended: [
    'The app is suspended',
    'The platform suspended this app, so nobody can give it access now. Its developer can tell you more.',
  ],
  changed: [
    'The app changed meanwhile',
    'What it asked for is not what it may ask for any more. Nothing was given. Start again from the app.',
  ],
  no_connection: ['No connection', 'The platform cannot be reached. Nothing was decided.'],
  rate_limited: ['Too many tries', 'Wait a moment, then try again.'],
  internal_error: ['Something went wrong on our side', 'Nothing was lost. Try again in a moment.'],
  handed_over: [
    'Decided, or out of time',
    'This request does not wait any more. You can close this tab and go on in the app that sent you here.',
  ],
  not_in_messenger: [
    'Open this in the messaging app',
    'This address works only inside the messaging app. In a browser, use the page instead.',
  ],
  unconfirmed: [
    'The messaging app did not confirm who you are',
    'Its sign-in is too old, or was used already. Close this and open the link again from the chat.',
  ],
  no_way_back: [
    'The app’s address cannot be opened',
    'Your answer was kept, but the address to go back to is not one that a browser may open. Tell the app’s developer.',
  ],
} satisfies Record<string, [title: string, text: string]>

export type End = keyof typeof ENDS

/** Ends that another try may get past. */
const PASSING: End[] = ['no_connection', 'rate_limited', 'internal_error']

interface Ways {
  /** What the button does. */
  again?: { label: string; act: () => void }
  link?: { label: string; href: string }
  requestId?: string
}

/** The page's last words, with what can be done next. */
export const finish = (title: string, text: string, { again, link, requestId }: Ways = {}): void => {
  stopCountdown()
  say('over-title', title)
  say('over-text', text)
  $('over-id').hidden = !requestId
  say('over-request', requestId ?? '')
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
  show('over')
}

export const end = (name: End, ways?: Ways): void => finish(...(ENDS[name] as [string, string]), ways)

/** Ends with an error's words; where trying again may help, the button does. */
export const endWith = ({ code, message, fix, requestId }: Failure, again: () => void) => {
  const name = (['insufficient_scope', 'invalid_redirect_uri'].includes(code) ? 'changed' : code) as End
  if (!(name in ENDS)) return finish('That did not work', `${message} ${fix}`, { requestId })
  const passing = PASSING.includes(name)
  end(name, {
    ...(passing && { again: { label: 'Try again', act: again } }),
    ...(name === 'internal_error' && { requestId }),
  })
}
