import { call } from './api.ts'
import { at, localSignIn, loginWidget, tg } from './config.ts'
import { $, say, show, webAddress } from './dom.ts'
import { initData } from './messenger.ts'
import { lastName, signedIn } from './session.ts'
import { keep, read } from './store.ts'
import type { BotInfo, ConsoleSession } from './types.ts'

const ASKED = 'widget-asked'

/**
 * What the login widget came back with: all of the address but our own parameter. It leaves the address at once, as it
 * must not stay in the history, nor be shared with the link. Only a tab that showed the widget takes it: a link that
 * somebody else made must not sign a person in as them.
 */
export const widgetAnswer = (): Record<string, string> | undefined => {
  const query = new URLSearchParams(location.search)
  if (!query.has('hash')) return undefined
  query.delete('tg')
  history.replaceState(null, '', `${location.pathname}?tg=${tg}`)
  return read(ASKED) === tg ? Object.fromEntries(query) : undefined
}

export const signInWithWidget = async (fields: Record<string, string>, key: string): Promise<void> =>
  signedIn(await call<ConsoleSession>('POST', 'console/bot/widget-auth', { body: fields, key }))

/** Init data counts once, except under the same key: a reloaded page gets the same session. */
export const signInWithInitData = async (): Promise<void> => {
  const kept = read<{ initData: string; key: string }>('init-data-key')
  const key = kept?.initData === initData ? kept.key : crypto.randomUUID()
  keep('init-data-key', { initData, key })
  signedIn(await call<ConsoleSession>('POST', 'console/bot/webapp-auth', { body: { init_data: initData }, key }))
}

export const signInLocally = async (): Promise<void> => {
  const workspace = $<HTMLInputElement>('workspace').value.trim()
  const body = { user: $<HTMLInputElement>('user').value.trim(), ...(workspace && { workspace }) }
  signedIn(await call<ConsoleSession>('POST', 'console/session', { body }))
}

/** The ways to say who one is, and why the page asks (again). */
export const askWho = async (note = ''): Promise<void> => {
  say('sign-in-note', note)
  $('sign-in-note').hidden = !note
  $('sign-in-form').hidden = !localSignIn
  const name = lastName()
  if (name) $<HTMLInputElement>('user').value = name
  const bot = await call<BotInfo>('GET', 'console/bot/info').catch(() => undefined)
  const url = webAddress(bot?.url)
  if (url) {
    for (const id of ['hand-over-link', 'hand-over-again']) $<HTMLAnchorElement>(id).href = `${url}?start=oauth_${tg}`
  }
  $('hand-over').hidden = !url
  const widget = Boolean(loginWidget && bot?.login_widget && bot.username)
  $('widget').hidden = !widget
  if (widget) addWidget(bot?.username ?? '')
  say(
    'no-way',
    bot
      ? 'Open this link where you are signed in, in the messaging app.'
      : 'The messaging app cannot be reached at the moment. Load this page again in a minute.',
  )
  $('no-way').hidden = widget || Boolean(url) || localSignIn
  show('sign-in')
}

/**
 * The messenger's own button. It comes back to this page with `data-auth-url`: its other way, `data-onauth`, makes code of
 * text, which the page's policy forbids. Source: https://core.telegram.org/widgets/login
 */
const addWidget = (username: string): void => {
  keep(ASKED, tg)
  const script = document.createElement('script')
  script.async = true
  script.src = 'https://telegram.org/js/telegram-widget.js?22'
  script.dataset.telegramLogin = username
  script.dataset.size = 'large'
  script.dataset.userpic = 'false'
  script.dataset.authUrl = at(`oauth/consent?tg=${tg}`)
  script.onerror = () => {
    $('widget-place').textContent = 'The messaging app’s sign-in button could not be loaded.'
  }
  $('widget-place').replaceChildren(script)
}
