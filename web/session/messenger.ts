/**
 * Speaks Telegram's Mini App protocol directly (launch data and events), so that no third-party script runs here.
 * Source: https://core.telegram.org/api/web-events and /bots/webapps.
 */

import { loadItem, saveItem } from './store.ts'

interface Bridges {
  TelegramWebviewProxy?: { postEvent(type: string, data: string): void }
  external?: { notify?(message: string): void }
}

/** The only origin that may frame this page and receive its messages. */
const WEB_CLIENT = 'https://web.telegram.org'

const LAUNCH = 'launch'

/** Returns the launch data from the URL's fragment. It is stored, because pages that route by fragment lose it on reload. */
const launchText = (): string => {
  const text = location.hash.slice(1)
  if (text.startsWith('/')) return loadItem<string>(LAUNCH) ?? ''
  if (text.includes('tgWebAppData=')) saveItem(LAUNCH, text)
  return text
}

const launch = new URLSearchParams(launchText())

/** Identity of the user who opened the page, signed by Telegram. */
export const initData = launch.get('tgWebAppData') ?? ''

/** Start parameter of the link or button that opened the page. */
export const startParameter =
  new URLSearchParams(initData).get('start_param') ??
  new URLSearchParams(location.search).get('tgWebAppStartParam') ??
  ''

export const postEvent = (eventType: string, eventData: object = {}) => {
  const { TelegramWebviewProxy: proxy, external } = window as unknown as Bridges
  if (proxy) return proxy.postEvent(eventType, JSON.stringify(eventData))
  const message = JSON.stringify({ eventType, eventData })
  if (typeof external?.notify === 'function') external.notify(message)
  else if (parent !== window) parent.postMessage(message, WEB_CLIENT)
}

type Colours = Record<string, string | undefined>

const launchColours = (): Colours => {
  try {
    return JSON.parse(launch.get('tgWebAppThemeParams') ?? '') ?? {}
  } catch {
    return {}
  }
}

const channels = (colour: string | undefined): [number, number, number] | undefined => {
  const [, red, green, blue] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(colour ?? '') ?? []
  if (!red || !green || !blue) return undefined
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)]
}

/** Relative luminance (WCAG 2.2, "relative luminance"). */
const luminance = (colour: string | undefined): number | undefined => {
  const found = channels(colour)
  if (!found) return undefined
  const [red, green, blue] = found.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: string | undefined, other: string | undefined): number => {
  const [a, b] = [luminance(one), luminance(other)]
  return a === undefined || b === undefined ? 0 : (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** Follows Telegram's light or dark mode rather than the device's. */
export const followTheme = (colours: Colours = launchColours()): void => {
  const found = channels(colours.bg_color)
  if (!found) return
  const [red, green, blue] = found
  // Perceived brightness, ITU-R BT.601.
  const bright = 0.299 * red + 0.587 * green + 0.114 * blue
  document.documentElement.dataset.scheme = bright < 128 ? 'dark' : 'light'
}

/** The page's colour properties and the Telegram theme colours that fill them. */
const NAMES = {
  '--paper': 'bg_color',
  '--ground': 'secondary_bg_color',
  '--ink': 'text_color',
  '--soft': 'subtitle_text_color',
  '--act': 'link_color',
} as const

/**
 * Adopts Telegram's theme colours where they are readable, because anyone can publish a theme. A text colour with too
 * little contrast is skipped; if the main text colour fails, the whole theme is.
 */
export const followColours = (colours: Colours = launchColours()): void => {
  const { style } = document.documentElement
  for (const name of [...Object.keys(NAMES), '--on-act']) style.removeProperty(name)
  const papers = [colours.bg_color, colours.secondary_bg_color ?? colours.bg_color]
  const readable = (colour: string | undefined): boolean => papers.every((paper) => contrast(colour, paper) >= 4.6)
  if (!readable(colours.text_color)) return
  const own = getComputedStyle(document.documentElement)
  for (const [name, theirs] of Object.entries(NAMES)) {
    const colour = colours[theirs]
    if (!channels(colour)) continue
    const isPaper = theirs.endsWith('bg_color')
    if (isPaper || readable(colour)) style.setProperty(name, colour ?? '')
  }
  // The remaining colours of the page must be readable on the theme's background, too.
  const kept = ['--soft', '--act', '--warn', '--bad', '--good'].map((name) => own.getPropertyValue(name).trim())
  if (!kept.every(readable)) for (const name of Object.keys(NAMES)) style.removeProperty(name)
  const act = own.getPropertyValue('--act').trim()
  const onAct = ['#ffffff', '#0d1117'].sort((a, b) => contrast(b, act) - contrast(a, act))[0] ?? ''
  style.setProperty('--on-act', onAct)
}

/** Calls back when Telegram's theme changes. Messages from other origins are ignored. */
export const onThemeChange = (listener: (colours: Colours) => void): void => {
  const take = (eventType: unknown, eventData: unknown): void => {
    const { theme_params: colours } = (eventData ?? {}) as { theme_params?: Colours }
    if (eventType === 'theme_changed' && colours) listener(colours)
  }
  const view = window as unknown as { Telegram?: { WebView?: { receiveEvent?: typeof take } } }
  view.Telegram = { WebView: { receiveEvent: take } }
  addEventListener('message', ({ origin, data }) => {
    if (origin !== WEB_CLIENT || typeof data !== 'string') return
    try {
      const { eventType, eventData } = JSON.parse(data)
      take(eventType, eventData)
    } catch {
      // Not a Telegram event.
    }
  })
}
