import type { PageBuild } from '../built/files.ts'
import { type PageBrand, pageHtml } from '../built/page.ts'

/** Returns a text in the page's language. */
type Translate = (message: string) => string

/** `page` in a browser, `mini_app` inside Telegram. */
export type Entry = 'page' | 'mini_app'

interface ConsolePageOptions {
  brand: PageBrand
  /** Language of the page. */
  language: string
  t: Translate
  entry: Entry
  /** Offers sign-in under any name. Local development only. */
  localSignIn: boolean
  /** Allows Telegram's login widget on this page. */
  loginWidget: boolean
  /** Origin that accepts file uploads: the bucket's. */
  uploads: string | undefined
  /** Address of live connections. Without one, the page polls. */
  live: string | undefined
}

export interface ConsolePage {
  html: string
  /** Value of the Content-Security-Policy header. */
  securityPolicy: string
}

const securityPolicy = ({ entry, loginWidget, uploads, live }: ConsolePageOptions): string => {
  const widget = entry === 'page' && loginWidget
  return [
    "default-src 'none'",
    `script-src 'self'${widget ? ' https://telegram.org/js/telegram-widget.js' : ''}`,
    "style-src 'self'",
    ...(widget ? ['frame-src https://oauth.telegram.org'] : []),
    "img-src 'self' data:",
    ['connect-src', "'self'", ...(uploads ? [uploads] : []), ...(live ? [new URL(live).origin] : [])].join(' '),
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${entry === 'mini_app' ? 'https://web.telegram.org' : "'none'"}`,
    "require-trusted-types-for 'script'",
    // The page's policy makes the widget's address and nothing else. The widget itself needs none: it adds a frame.
    `trusted-types ${widget ? 'telegram-widget' : "'none'"}`,
  ].join('; ')
}

/** Renders the console's page. Its script loads all data with the user's session. */
export const consolePage = (options: ConsolePageOptions, build: PageBuild): ConsolePage => ({
  html: html(options, build),
  securityPolicy: securityPolicy(options),
})

const html = (
  { brand, language, t, entry, localSignIn, loginWidget, live }: ConsolePageOptions,
  build: PageBuild,
): string => {
  const inBrowser = entry === 'page'
  return pageHtml(
    {
      brand,
      language,
      title: t('Console'),
      assets: inBrowser ? 'app/assets/' : 'assets/',
      data: {
        entry,
        root: inBrowser ? './' : '../',
        'local-sign-in': localSignIn && inBrowser,
        'login-widget': loginWidget && inBrowser,
        ...(live && { live }),
      },
      early: { session: 'console-session', paths: ['console/me', 'console/updates'], later: 'console/inbox' },
      loading: t('Loading…'),
      scriptless: t('The console needs JavaScript.'),
    },
    build,
  )
}
