import type { PageBuild } from '../built/files.ts'

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

/**
 * The console's page: without data of its own, without anything inline. What it shows it asks for with the person's session.
 * Its addresses are relative, so it works below any path.
 */
export const consolePage = (options: ConsolePageOptions, build: PageBuild): ConsolePage => ({
  html: html(options, build),
  securityPolicy: securityPolicy(options),
})

const html = ({ entry, localSignIn, loginWidget }: ConsolePageOptions, build: PageBuild): string => {
  const inBrowser = entry === 'page'
  const assets = inBrowser ? 'app/assets/' : 'assets/'
  const { script, styles, preloads } = build.entry
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Console</title>
<link rel="icon" href="data:,">
${styles.map((name) => `<link rel="stylesheet" href="${assets}${name}">`).join('\n')}
${preloads.map((name) => `<link rel="modulepreload" href="${assets}${name}">`).join('\n')}
<script type="module" src="${assets}${script}"></script>
</head>
<body data-entry="${entry}" data-root="${inBrowser ? './' : '../'}" data-local-sign-in="${localSignIn && inBrowser}" data-login-widget="${loginWidget && inBrowser}">
<div id="app"><main class="starting"><p role="status">One moment…</p></main></div>
<noscript><p>The console needs JavaScript.</p></noscript>
</body>
</html>
`
}
