import type { PageBuild } from '../built/files.ts'
import { pageHtml } from '../built/page.ts'

/** `page` in a browser, `mini_app` inside the messaging app. */
export type Entry = 'page' | 'mini_app'

interface ConsolePageOptions {
  entry: Entry
  /** Offer to sign in as anybody, where the deployment allows that (local development). */
  localSignIn: boolean
  /** The messenger's login widget can exist here. */
  loginWidget: boolean
  /** Origins that files may be uploaded to. */
  uploads: readonly string[]
}

export interface ConsolePage {
  html: string
  /** Value of Content-Security-Policy: what may run in the page, what it may ask, and who may frame it. */
  securityPolicy: string
}

const securityPolicy = ({ entry, loginWidget, uploads }: ConsolePageOptions): string => {
  const widget = entry === 'page' && loginWidget
  return [
    "default-src 'none'",
    `script-src 'self'${widget ? ' https://telegram.org' : ''}`,
    "style-src 'self'",
    ...(widget ? ['frame-src https://oauth.telegram.org'] : []),
    // Logos come from the agents' developers.
    'img-src https: data:',
    ['connect-src', "'self'", ...uploads].join(' '),
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${entry === 'mini_app' ? 'https://web.telegram.org' : "'none'"}`,
    // The widget's script writes markup of its own.
    ...(widget ? [] : ["require-trusted-types-for 'script'", "trusted-types 'none'"]),
  ].join('; ')
}

/** The console's page: what it shows it asks for with the person's session. */
export const consolePage = (options: ConsolePageOptions, build: PageBuild): ConsolePage => ({
  html: html(options, build),
  securityPolicy: securityPolicy(options),
})

const html = ({ entry, localSignIn, loginWidget }: ConsolePageOptions, build: PageBuild): string => {
  const inBrowser = entry === 'page'
  return pageHtml(
    {
      title: 'Console',
      assets: inBrowser ? 'app/assets/' : 'assets/',
      data: {
        entry,
        root: inBrowser ? './' : '../',
        'local-sign-in': localSignIn && inBrowser,
        'login-widget': loginWidget && inBrowser,
      },
      scriptless: 'The console needs JavaScript.',
    },
    build,
  )
}
