import { t } from '../ui/messages.ts'
import { call } from './call.ts'
import { loginWidget } from './config.ts'
import { type PasskeyOptions, signInWith } from './passkey.ts'
import { loadItem, saveItem } from './store.ts'
import type { BotInfo, ConsoleSession } from './types.ts'

const ASKED = 'widget-asked'

/**
 * Takes the login widget's answer from the URL's query and removes it at once, so that it doesn't stay in the history or
 * get shared with the link. Only a tab that showed the widget for the same place accepts an answer. Otherwise a crafted
 * link could sign a user in as somebody else.
 * @param place the value given to {@link addWidget}
 * @param parameters query parameters that belong to the page
 */
export const takeWidgetAnswer = (
  place: string,
  parameters: readonly string[] = [],
): Record<string, string> | undefined => {
  const query = new URLSearchParams(location.search)
  if (!query.has('hash')) return undefined
  const own = new URLSearchParams()
  for (const name of parameters) {
    own.set(name, query.get(name) ?? '')
    query.delete(name)
  }
  history.replaceState(null, '', location.pathname + (own.size > 0 ? `?${own}` : ''))
  return loadItem(ASKED) === place ? Object.fromEntries(query) : undefined
}

export const signInWithWidget = (fields: Record<string, string>, key: string): Promise<ConsoleSession> =>
  call('POST', 'console/bot/widget-auth', { body: fields, key })

/** Signs in under any name. Local development only. */
export const signInLocally = (user: string, workspace: string): Promise<ConsoleSession> =>
  call('POST', 'console/session', { body: { user, ...(workspace && { workspace }) } })

/** Signs in with a passkey of this site, which the browser lets the user choose. @throws {Failure} */
export const signInWithPasskey = async (): Promise<ConsoleSession> => {
  return signInWith(
    () => call<PasskeyOptions>('POST', 'console/passkeys/sign-in/options'),
    (body) => call<ConsoleSession>('POST', 'console/passkeys/sign-in', { body, key: crypto.randomUUID() }),
  )
}

/** Loads the platform's bot. Returns undefined if it can't be reached. */
export const loadBotInfo = (): Promise<BotInfo | undefined> =>
  call<BotInfo>('GET', 'console/bot/info').catch(() => undefined)

/** Returns the username of the bot whose login widget this page may show. */
export const widgetUsername = (bot: BotInfo | undefined): string | undefined =>
  (loginWidget && bot?.login_widget && bot.username) || undefined

const WIDGET = 'https://telegram.org/js/telegram-widget.js?22'

/** The part of Trusted Types that this page uses. Browsers without it take text. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(url: string): string }
}

let widgetPolicy: { createScriptURL(url: string): string } | undefined

/** Returns the widget's address as the only one of a script that the page's security policy accepts. */
const widgetUrl = (): string => {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  widgetPolicy ??= trustedTypes?.createPolicy('telegram-widget', { createScriptURL: () => WIDGET })
  return widgetPolicy?.createScriptURL('') ?? WIDGET
}

/**
 * Adds Telegram's login button. It redirects to `data-auth-url`, because the alternative, `data-onauth`, evaluates a
 * string as code, which the page's policy forbids. Source: https://core.telegram.org/widgets/login
 * @param place the only place that accepts the answer
 */
export const addWidget = (parent: HTMLElement, username: string, authUrl: string, place: string): void => {
  saveItem(ASKED, place)
  const script = document.createElement('script')
  script.async = true
  script.src = widgetUrl()
  script.dataset.telegramLogin = username
  script.dataset.size = 'large'
  script.dataset.userpic = 'false'
  script.dataset.authUrl = authUrl
  script.onload = () => parent.querySelector('iframe')?.setAttribute('title', 'Sign in with Telegram')
  script.onerror = () => {
    parent.textContent = t('Telegram’s sign-in button couldn’t be loaded. Reload the page to try again.')
  }
  parent.replaceChildren(script)
}
