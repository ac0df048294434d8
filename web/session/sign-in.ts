import { call } from './call.ts'
import { loginWidget } from './config.ts'
import { initData } from './messenger.ts'
import { keep, read } from './store.ts'
import type { BotInfo, ConsoleSession } from './types.ts'

const ASKED = 'widget-asked'

/**
 * What the login widget came back with: all of the address but the page's own parameters. It leaves the address at once, as
 * it must not stay in the history, nor be shared with the link. Only a tab that showed the widget for the same place takes
 * it: a link that somebody else made must not sign a person in as them.
 * @param place what {@link addWidget} was told
 * @param parameters the page's own
 */
export const widgetAnswer = (place: string, parameters: readonly string[] = []): Record<string, string> | undefined => {
  const query = new URLSearchParams(location.search)
  if (!query.has('hash')) return undefined
  const own = new URLSearchParams()
  for (const name of parameters) {
    own.set(name, query.get(name) ?? '')
    query.delete(name)
  }
  history.replaceState(null, '', location.pathname + (own.size > 0 ? `?${own}` : ''))
  return read(ASKED) === place ? Object.fromEntries(query) : undefined
}

export const signInWithWidget = (fields: Record<string, string>, key: string): Promise<ConsoleSession> =>
  call('POST', 'console/bot/widget-auth', { body: fields, key })

/** Init data counts once, except under the same key: a reloaded page gets the same session. */
export const signInWithInitData = (): Promise<ConsoleSession> => {
  const kept = read<{ initData: string; key: string }>('init-data-key')
  const key = kept?.initData === initData ? kept.key : crypto.randomUUID()
  keep('init-data-key', { initData, key })
  return call('POST', 'console/bot/webapp-auth', { body: { init_data: initData }, key })
}

/** Local development: anybody. */
export const signInLocally = (user: string, workspace: string): Promise<ConsoleSession> =>
  call('POST', 'console/session', { body: { user, ...(workspace && { workspace }) } })

/** The platform's bot; undefined while it cannot be asked. */
export const botInfo = (): Promise<BotInfo | undefined> =>
  call<BotInfo>('GET', 'console/bot/info').catch(() => undefined)

/** Whose login widget this page may show. */
export const widgetOf = (bot: BotInfo | undefined): string | undefined =>
  (loginWidget && bot?.login_widget && bot.username) || undefined

/**
 * The messenger's own button. It comes back to the page with `data-auth-url`: its other way, `data-onauth`, makes code of
 * text, which the page's policy forbids. Source: https://core.telegram.org/widgets/login
 * @param place what the answer is for, and only for
 */
export const addWidget = (parent: HTMLElement, username: string, authUrl: string, place: string): void => {
  keep(ASKED, place)
  const script = document.createElement('script')
  script.async = true
  script.src = 'https://telegram.org/js/telegram-widget.js?22'
  script.dataset.telegramLogin = username
  script.dataset.size = 'large'
  script.dataset.userpic = 'false'
  script.dataset.authUrl = authUrl
  script.onerror = () => {
    parent.textContent = 'The messaging app’s sign-in button could not be loaded.'
  }
  parent.replaceChildren(script)
}
