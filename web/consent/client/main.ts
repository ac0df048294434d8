/**
 * Consent page: signs the user in, loads the request behind the link, shows it, and submits the decision. Text from apps
 * and users is always set as text, never as markup.
 */

import { call } from '../../session/call.ts'
import { miniApp, resolveUrl } from '../../session/config.ts'
import { type Failure, toFailure } from '../../session/failure.ts'
import { followTheme, initData, postEvent } from '../../session/messenger.ts'
import { clearSession } from '../../session/session.ts'
import { applyAppearance } from '../../theme/appearance.ts'
import { t } from '../../ui/messages.ts'
import { consentPath, tg } from './config.ts'
import { startCountdown } from './countdown.ts'
import { decide, isDeciding } from './decide.ts'
import { $, showSection } from './dom.ts'
import { loadStatus, startWaiting, stopWaiting } from './hand-over.ts'
import { showError, showOutcome } from './over.ts'
import { isClaimed, showRequest } from './request.ts'
import { session } from './session.ts'
import { showAsking, showSignIn, signInLocally, signInWithInitData, signInWithWidget, widgetAnswer } from './sign-in.ts'
import type { ConsentRequest } from './types.ts'

// The script is at the page's end, and runs before it is painted.
if (!miniApp) applyAppearance()

const countDown = (seconds: number): void =>
  startCountdown(seconds, () => {
    if (isDeciding()) return
    stopWaiting()
    showOutcome('expired_consent_link')
  })

const handleFailure = (failure: Failure) => {
  stopWaiting()
  if (failure.status !== 401) return showError(failure, open)
  clearSession()
  if (miniApp) return showOutcome('unconfirmed')
  showSignIn(t('Your session expired. Sign in again. Your choices are saved.'))
}

/** Loads the request. The first user to load it becomes its owner. */
const load = async (): Promise<void> => {
  const query = `${consentPath}/request?tg=${tg}`
  const asked = await call<ConsentRequest>('GET', query, { token: session()?.token })
  showRequest(asked)
  countDown(asked.expires_in)
}

/** Runs `act` and shows its error, if any. */
const attempt = async (act: () => Promise<void>): Promise<void> => {
  try {
    await act()
  } catch (error) {
    handleFailure(toFailure(error))
  }
}

const open = (): Promise<void> =>
  attempt(async () => {
    showSection('wait')
    if (miniApp && !session()) await signInWithInitData()
    if (session()) return load()
    const { over, expires_in, app } = await loadStatus()
    if (over) return showOutcome('expired_consent_link')
    if (app) showAsking(app)
    await showSignIn()
    countDown(expires_in ?? 0)
  })

const start = () => {
  if (!/^[\w-]{1,64}$/.test(tg)) return showOutcome('validation_error')
  if (!miniApp) return startInBrowser()
  followTheme()
  if (!initData) {
    return showOutcome('not_in_messenger', {
      link: { label: t('Open the web page'), href: resolveUrl(`${consentPath}?tg=${tg}`) },
    })
  }
  postEvent('web_app_ready')
  postEvent('web_app_expand')
  open()
}

const startInBrowser = async (): Promise<void> => {
  const fields = widgetAnswer()
  if (!fields) return open()
  const key = crypto.randomUUID()
  const signIn = (): Promise<void> =>
    signInWithWidget(fields, key).then(open, (error: unknown) => {
      const failure = toFailure(error)
      if (failure.status === 0 || failure.status >= 500) return showError(failure, signIn)
      const unconfirmed = t('We couldn’t verify your Telegram sign-in. Sign in again.')
      return showSignIn(failure.status === 401 ? unconfirmed : `${failure.message} ${failure.fix}`)
    })
  await signIn()
}

const handlers = { reload: () => attempt(load), failed: handleFailure }

$('sign-in-form').onsubmit = (event) => {
  event.preventDefault()
  signInLocally().then(open, (error: unknown) => {
    const failure = toFailure(error)
    return failure.status === 0 ? handleFailure(failure) : showSignIn(`${failure.message} ${failure.fix}`)
  })
}
$('hand-over-link').onclick = () => startWaiting()
$('stay-here').onclick = () => {
  stopWaiting()
  showSection('sign-in')
}
$('decision-form').onsubmit = (event) => {
  event.preventDefault()
  decide('approve', handlers)
}
$('deny').onclick = () => decide('deny', handlers)
$('switch').onclick = async () => {
  // The page drops the session even if the request fails.
  await call('DELETE', 'console/session', { token: session()?.token }).catch(() => {})
  clearSession()
  showSignIn(
    isClaimed()
      ? t(
          'You’re signed out. This link belongs to the account that opened it. To use another account, start again from the app.',
        )
      : t('You’re signed out. Sign in with an account that can install the app.'),
  )
}
// A page restored from the back/forward cache may be out of date.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

start()
