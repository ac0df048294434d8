import { call } from '../../session/call.ts'
import { miniApp } from '../../session/config.ts'
import { asFailure, type Failure } from '../../session/failure.ts'
import { tell } from '../../session/messenger.ts'
import { webAddress } from '../../session/text.ts'
import { tg } from './config.ts'
import { $, say } from './dom.ts'
import { end, finish } from './over.ts'
import { chosenPlace, forgetChoices, redirectHost } from './request.ts'
import { granted } from './scopes.ts'
import { session } from './session.ts'

type Decision = 'approve' | 'deny'

/** Why an answer was not taken that may still be given otherwise. */
const PROBLEMS: Record<string, string> = {
  no_manifest:
    'The app has no published version, so there is nothing to install yet. Ask its developer to publish one.',
  no_connection: 'No connection. Your answer may not have arrived; sending it again is safe.',
  rate_limited: 'Too many tries. Wait a moment, then try again.',
  conflict: 'Your answer is still being worked on. Try again in a moment.',
  internal_error: 'Something went wrong on our side. Sending the answer again is safe.',
}

/** The answers after which the page shows afresh what can be chosen; `not_found` may be the workspace. */
const MOVED = ['not_found', 'admin_required', 'app_not_approved', 'installation_suspended', 'scope_denied_by_admin']

let sent = { key: '', text: '' }
let busy = false

/** An answer is on its way: the countdown must not say that the link is over before the server does. */
export const deciding = (): boolean => busy

interface Handlers {
  /** The page no longer shows how things stand. */
  reload(): Promise<void>
  /** Nothing more can be decided here, or not by this session. */
  failed(failure: Failure): void
}

export const decide = async (decision: Decision, { reload, failed }: Handlers): Promise<void> => {
  if (busy) return
  const entry = miniApp ? { entry: 'mini_app' } : {}
  const choice = decision === 'approve' ? { workspace_id: chosenPlace()?.id, scopes: granted() } : {}
  const body = { tg, decision, ...choice, ...entry }
  const text = JSON.stringify(body)
  // The same answer sent again after a lost connection must not be a second one.
  if (sent.text !== text) sent = { key: crypto.randomUUID(), text }
  setBusy(true)
  $('problem').hidden = true
  try {
    const options = { body, token: session()?.token, key: sent.key }
    const { redirect_to } = await call<{ redirect_to: string }>('POST', 'oauth/consent/decision', options)
    forgetChoices()
    leave(decision, redirect_to)
  } catch (error) {
    const failure = asFailure(error)
    const known = failure.code in PROBLEMS
    if (!known && !MOVED.includes(failure.code)) return failed(failure)
    if (MOVED.includes(failure.code)) await reload()
    say('problem', `${PROBLEMS[failure.code] ?? `${failure.message} ${failure.fix}`}${idOf(failure)}`)
    $('problem').hidden = false
  } finally {
    setBusy(false)
  }
}

const idOf = ({ code, requestId }: Failure): string =>
  code === 'internal_error' && requestId ? ` Request id: ${requestId}` : ''

/** Disabled buttons would lose the focus of whoever uses a keyboard; `decide` itself takes one answer at a time. */
const setBusy = (on: boolean): void => {
  busy = on
  $('decision-form').ariaBusy = String(on)
}

/** Back to the client. The page leaves the history, so that nobody comes back to a link that is over. */
const leave = (decision: Decision, to: string) => {
  const href = webAddress(to)
  if (!href) return end('no_way_back')
  const title = decision === 'approve' ? 'Access given' : 'Access declined'
  const link = { label: `Go on to ${redirectHost()}`, href }
  if (!miniApp) {
    finish(title, `Going back to ${redirectHost()}…`, { link })
    return location.replace(href)
  }
  const open = (): void => tell('web_app_open_link', { url: href })
  const again = { label: 'Close', act: () => tell('web_app_close') }
  finish(title, `You go on at ${redirectHost()} in your browser. You can close this.`, { again, link })
  $<HTMLAnchorElement>('over-link').onclick = (event) => {
    event.preventDefault()
    open()
  }
  open()
}
