import { call } from '../../session/call.ts'
import { miniApp } from '../../session/config.ts'
import { type Failure, toFailure } from '../../session/failure.ts'
import { postEvent } from '../../session/messenger.ts'
import { safeUrl } from '../../session/text.ts'
import { t } from '../../ui/messages.ts'
import { consentPath, tg } from './config.ts'
import { $, setText } from './dom.ts'
import { showFinalMessage, showOutcome } from './over.ts'
import { clearChoices, redirectHost, selectedWorkspace } from './request.ts'
import { selectedScopes } from './scopes.ts'
import { session } from './session.ts'

type Decision = 'approve' | 'deny'

/** Errors after which the user can still decide on this page. */
const PROBLEMS: Record<string, string> = {
  no_manifest: t('This app has no published version yet, so it can’t be installed. Ask its developer to publish one.'),
  no_connection: t('No connection. Your answer may not have arrived. It’s safe to send it again.'),
  rate_limited: t('Too many attempts. Wait a moment, then try again.'),
  conflict: t('Your answer is still being processed. Try again in a moment.'),
  internal_error: t('Something went wrong on our end. It’s safe to try again.'),
}

/** Errors after which the page reloads the available choices. `not_found` may refer to the workspace. */
const MOVED = ['not_found', 'admin_required', 'app_not_approved', 'installation_suspended', 'scope_denied_by_admin']

let sent = { key: '', text: '' }
let busy = false

/** While a decision is in flight, the countdown must not declare the link expired before the server does. */
export const isDeciding = (): boolean => busy

interface Handlers {
  /** Reloads the request because the page is out of date. */
  reload(): Promise<void>
  /** Handles errors that end the decision or this session. */
  failed(failure: Failure): void
}

export const decide = async (decision: Decision, { reload, failed }: Handlers): Promise<void> => {
  if (busy) return
  const entry = miniApp ? { entry: 'mini_app' } : {}
  const choice = decision === 'approve' ? { workspace_id: selectedWorkspace()?.id, scopes: selectedScopes() } : {}
  const body = { tg, decision, ...choice, ...entry }
  const text = JSON.stringify(body)
  // Resending the same decision after a lost connection must not count twice.
  if (sent.text !== text) sent = { key: crypto.randomUUID(), text }
  setBusy(true)
  $('problem').hidden = true
  try {
    const options = { body, token: session()?.token, key: sent.key }
    const { redirect_to } = await call<{ redirect_to: string }>('POST', `${consentPath}/decision`, options)
    clearChoices()
    returnToClient(decision, redirect_to)
  } catch (error) {
    const failure = toFailure(error)
    const known = failure.code in PROBLEMS
    if (!known && !MOVED.includes(failure.code)) return failed(failure)
    if (MOVED.includes(failure.code)) await reload()
    setText('problem', `${PROBLEMS[failure.code] ?? `${failure.message} ${failure.fix}`}${idOf(failure)}`)
    $('problem').hidden = false
  } finally {
    setBusy(false)
  }
}

const idOf = ({ code, requestId }: Failure): string =>
  code === 'internal_error' && requestId ? t(' Request ID: {requestId}', { requestId }) : ''

/** Marks the form as busy. Disabling the buttons would drop keyboard focus; `decide` ignores repeated presses anyway. */
const setBusy = (on: boolean): void => {
  busy = on
  $('decision-form').ariaBusy = String(on)
}

/** Returns to the client and replaces this page in the history, so that Back doesn't lead to an expired link. */
const returnToClient = (decision: Decision, to: string) => {
  const href = safeUrl(to)
  if (!href) return showOutcome('no_way_back')
  const title = decision === 'approve' ? t('Access granted') : t('Access declined')
  const link = { label: t('Continue to {redirectHost}', { redirectHost: redirectHost() }), href }
  if (!miniApp) {
    showFinalMessage(title, t('Returning to {redirectHost}…', { redirectHost: redirectHost() }), { link })
    return location.replace(href)
  }
  const open = (): void => postEvent('web_app_open_link', { url: href })
  const again = { label: t('Close'), act: () => postEvent('web_app_close') }
  showFinalMessage(
    title,
    t('Continue at {redirectHost} in your browser. You can close this window.', { redirectHost: redirectHost() }),
    { again, link },
  )
  $<HTMLAnchorElement>('over-link').onclick = (event) => {
    event.preventDefault()
    open()
  }
  open()
}
