/**
 * The messaging app around the page: what it hands over at launch, and its events, spoken directly, so that no script
 * from elsewhere runs here. Source: https://core.telegram.org/api/web-events and /bots/webapps.
 */

import { keep, read } from './store.ts'

interface Bridges {
  TelegramWebviewProxy?: { postEvent(type: string, data: string): void }
  external?: { notify?(message: string): void }
}

/** The only origin whose page may frame this one; nobody else gets to read what is sent. */
const WEB_CLIENT = 'https://web.telegram.org'

const LAUNCH = 'launch'

/** What the app put behind `#`; a page that uses that part of the address itself finds it again after a reload. */
const launchText = (): string => {
  const text = location.hash.slice(1)
  if (text.startsWith('/')) return read<string>(LAUNCH) ?? ''
  if (text.includes('tgWebAppData=')) keep(LAUNCH, text)
  return text
}

const launch = new URLSearchParams(launchText())

/** Signed by the messaging app: who opened the page. */
export const initData = launch.get('tgWebAppData') ?? ''

/** What the link, or the button, that opened the page carried. */
export const startParameter =
  new URLSearchParams(initData).get('start_param') ??
  new URLSearchParams(location.search).get('tgWebAppStartParam') ??
  ''

export const tell = (eventType: string, eventData: object = {}) => {
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

/** Light or dark as the messaging app is, whatever the device says. */
export const followTheme = (colours: Colours = launchColours()): void => {
  const found = channels(colours.bg_color)
  if (!found) return
  const [red, green, blue] = found
  // Perceived brightness, ITU-R BT.601.
  const bright = 0.299 * red + 0.587 * green + 0.114 * blue
  document.documentElement.dataset.scheme = bright < 128 ? 'dark' : 'light'
}

/** The app's colours, by the page's own names. */
const NAMES = {
  '--paper': 'bg_color',
  '--ground': 'secondary_bg_color',
  '--ink': 'text_color',
  '--soft': 'subtitle_text_color',
  '--act': 'link_color',
} as const

/**
 * Takes the messaging app's own colours where they can be read: its themes are made by anybody. Text that would stand out
 * too little keeps the page's own colour, and where the main text would, everything does.
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
  // What was kept of the page's own colours must stand on the app's paper, too.
  const kept = ['--soft', '--act', '--warn', '--bad', '--good'].map((name) => own.getPropertyValue(name).trim())
  if (!kept.every(readable)) for (const name of Object.keys(NAMES)) style.removeProperty(name)
  const act = own.getPropertyValue('--act').trim()
  const onAct = ['#ffffff', '#0d1117'].sort((a, b) => contrast(b, act) - contrast(a, act))[0] ?? ''
  style.setProperty('--on-act', onAct)
}

/** Tells of the app's theme whenever it changes. Only the app itself is listened to. */
export const whenThemeChanges = (told: (colours: Colours) => void): void => {
  const take = (eventType: unknown, eventData: unknown): void => {
    const { theme_params: colours } = (eventData ?? {}) as { theme_params?: Colours }
    if (eventType === 'theme_changed' && colours) told(colours)
  }
  const view = window as unknown as { Telegram?: { WebView?: { receiveEvent?: typeof take } } }
  view.Telegram = { WebView: { receiveEvent: take } }
  addEventListener('message', ({ origin, data }) => {
    if (origin !== WEB_CLIENT || typeof data !== 'string') return
    try {
      const { eventType, eventData } = JSON.parse(data)
      take(eventType, eventData)
    } catch {
      // Not an event of the app.
    }
  })
}
