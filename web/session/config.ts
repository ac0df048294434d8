import { t } from '../ui/messages.ts'

/** Page configuration written by the server: entry point, platform root, and sign-in methods. */
const {
  name = t('Console'),
  brand = '',
  brandVersion,
  support,
  entry,
  root = './',
  localSignIn: local,
  loginWidget: widget,
  live,
} = document.body.dataset

/** Name shown in the page's title. */
export const pageName = name
/** True inside Telegram. */
export const miniApp = entry === 'mini_app'
/** True if anyone may sign in under any name. Local development only. */
export const localSignIn = local === 'true'
/** True if the page's Content-Security-Policy allows Telegram's login widget. */
export const loginWidget = widget === 'true'

/** Address of live connections. Undefined if the platform has none. */
export const liveUrl = live

const base = new URL(root, location.href)

/** Resolves a path against the platform's root, which may be below any path. */
export const resolveUrl = (path: string): string => new URL(path, base).href

/** Name of the platform. */
export const brandName = brand
/** Address of the platform's mark. */
export const brandMark = resolveUrl(brandVersion ? `brand.svg?v=${brandVersion}` : 'brand.svg')
/** Address where people get help. Undefined if the operator names none. */
export const supportUrl = support
