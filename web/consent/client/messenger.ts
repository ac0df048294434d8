/**
 * The messaging app around the page: what it hands over at launch, and its events, spoken directly, so that no script
 * from elsewhere runs here. Source: https://core.telegram.org/api/web-events and /bots/webapps.
 */

interface Bridges {
  TelegramWebviewProxy?: { postEvent(type: string, data: string): void }
  external?: { notify?(message: string): void }
}

/** The only origin whose page may frame this one; nobody else gets to read what is sent. */
const WEB_CLIENT = 'https://web.telegram.org'

const launch = new URLSearchParams(location.hash.slice(1))

/** Signed by the messaging app: who opened the page. */
export const initData = launch.get('tgWebAppData') ?? ''

export const tell = (eventType: string, eventData: object = {}) => {
  const { TelegramWebviewProxy: proxy, external } = window as unknown as Bridges
  if (proxy) return proxy.postEvent(eventType, JSON.stringify(eventData))
  const message = JSON.stringify({ eventType, eventData })
  if (typeof external?.notify === 'function') external.notify(message)
  else if (parent !== window) parent.postMessage(message, WEB_CLIENT)
}

const background = (): string => {
  try {
    return JSON.parse(launch.get('tgWebAppThemeParams') ?? '').bg_color
  } catch {
    return ''
  }
}

/** Light or dark as the messaging app is, whatever the device says. */
export const followTheme = (): void => {
  const [, red, green, blue] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(background()) ?? []
  if (!red || !green || !blue) return
  // Perceived brightness, ITU-R BT.601.
  const bright =
    0.299 * Number.parseInt(red, 16) + 0.587 * Number.parseInt(green, 16) + 0.114 * Number.parseInt(blue, 16)
  document.documentElement.dataset.scheme = bright < 128 ? 'dark' : 'light'
}
