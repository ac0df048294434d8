/**
 * The consent page. It has no data of its own: it signs the person in, asks what the link is about, shows it, and sends
 * what they decide. Whatever comes from an app or a person is set as text, never as markup.
 */
import { call } from '../../session/call.ts'
import { at, miniApp } from '../../session/config.ts'
import { asFailure, type Failure } from '../../session/failure.ts'
import { followTheme, initData, tell } from '../../session/messenger.ts'
import { signedOut } from '../../session/session.ts'
import { tg } from './config.ts'
import { startCountdown } from './countdown.ts'
import { decide, deciding } from './decide.ts'
import { $, show } from './dom.ts'
import { status, stopWaiting, waitElsewhere } from './hand-over.ts'
import { end, endWith } from './over.ts'
import { showRequest } from './request.ts'
import { session } from './session.ts'
import { askWho, signInLocally, signInWithInitData, signInWithWidget, widgetAnswer } from './sign-in.ts'
import type { ConsentRequest } from './types.ts'

const countDown = (seconds: number): void =>
  startCountdown(seconds, () => {
    if (deciding()) return
    stopWaiting()
    end('expired_consent_link')
  })

const failed = (failure: Failure) => {
  stopWaiting()
  if (failure.status !== 401) return endWith(failure, open)
  signedOut()
  if (miniApp) return end('unconfirmed')
  askWho('Your session is over. Sign in again: what you chose is kept.')
}

/** Asks what the link is about; the first to ask becomes its owner. */
const load = async (): Promise<void> => {
  const query = `oauth/consent/request?tg=${tg}`
  const asked = await call<ConsentRequest>('GET', query, { token: session()?.token })
  showRequest(asked)
  countDown(asked.expires_in)
}

/** Does something with the platform, and says so when that fails. */
const attempt = async (act: () => Promise<void>): Promise<void> => {
  try {
    await act()
  } catch (error) {
    failed(asFailure(error))
  }
}

const open = (): Promise<void> =>
  attempt(async () => {
    show('wait')
    if (miniApp && !session()) await signInWithInitData()
    if (session()) return load()
    const { over, expires_in } = await status()
    if (over) return end('expired_consent_link')
    await askWho()
    countDown(expires_in ?? 0)
  })

const begin = () => {
  if (!/^[\w-]{1,64}$/.test(tg)) return end('validation_error')
  if (!miniApp) return beginInBrowser()
  followTheme()
  if (!initData) {
    return end('not_in_messenger', { link: { label: 'Open the page', href: at(`oauth/consent?tg=${tg}`) } })
  }
  tell('web_app_ready')
  tell('web_app_expand')
  open()
}

const beginInBrowser = async (): Promise<void> => {
  const fields = widgetAnswer()
  if (!fields) return open()
  const key = crypto.randomUUID()
  const signIn = (): Promise<void> =>
    signInWithWidget(fields, key).then(open, (error: unknown) => {
      const failure = asFailure(error)
      if (failure.status === 0 || failure.status >= 500) return endWith(failure, signIn)
      const unconfirmed = 'The messaging app did not confirm who you are. Sign in again.'
      return askWho(failure.status === 401 ? unconfirmed : `${failure.message} ${failure.fix}`)
    })
  await signIn()
}

const handlers = { reload: () => attempt(load), failed }

$('sign-in-form').onsubmit = (event) => {
  event.preventDefault()
  signInLocally().then(open, (error: unknown) => {
    const failure = asFailure(error)
    return failure.status === 0 ? failed(failure) : askWho(`${failure.message} ${failure.fix}`)
  })
}
$('hand-over-link').onclick = () => waitElsewhere()
$('stay-here').onclick = () => {
  stopWaiting()
  show('sign-in')
}
$('decision-form').onsubmit = (event) => {
  event.preventDefault()
  decide('approve', handlers)
}
$('deny').onclick = () => decide('deny', handlers)
$('switch').onclick = async () => {
  // Whether or not that arrives: this page forgets the session.
  await call('DELETE', 'console/session', { token: session()?.token }).catch(() => {})
  signedOut()
  askWho(
    'You are signed out. This link stays with whoever opened it: to decide as somebody else, start again from the app.',
  )
}
// A page that the browser kept shows how things stood when it was left.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

begin()
