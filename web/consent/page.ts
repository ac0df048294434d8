import { inflateRawSync } from 'node:zlib'
import { directionOf } from '../built/direction.ts'
import { brandData, brandLinks, type PageBrand } from '../built/page.ts'
import { SCRIPTS, STYLE } from './assets.prebuilt.ts'

/** `page` in a browser, `mini_app` inside Telegram. */
export type Entry = 'page' | 'mini_app'

/** Kind of client that asks: an app for a workspace, or a person's assistant. */
export type Asks = 'app' | 'host'

/** Returns a text in the page's language. */
type Translate = (message: string, values?: Readonly<Record<string, string>>) => string

interface ConsentPageOptions {
  brand: PageBrand
  /** Language of the page, one of {@link CONSENT_LANGUAGES}. */
  language: string
  t: Translate
  entry: Entry
  asks: Asks
  /** Offers sign-in under any name. Local development only. */
  localSignIn: boolean
  /** Allows Telegram's login widget on this page. */
  loginWidget: boolean
}

export interface ConsentPage {
  html: string
  headers: Record<string, string>
}

/** Languages that the page exists in. */
export const CONSENT_LANGUAGES = Object.keys(SCRIPTS)

const NOTHING = { packed: '', hash: "'none'" }

const securityPolicy = ({ entry, loginWidget, language }: ConsentPageOptions): string => {
  const widget = entry === 'page' && loginWidget
  return [
    "default-src 'none'",
    `script-src ${(SCRIPTS[language] ?? NOTHING).hash}${widget ? ' https://telegram.org/js/telegram-widget.js' : ''}`,
    `style-src ${STYLE.hash} 'self'`,
    ...(widget ? ['frame-src https://oauth.telegram.org'] : []),
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${entry === 'mini_app' ? 'https://web.telegram.org' : "'none'"}`,
    "require-trusted-types-for 'script'",
    // The page's policy makes the widget's address and nothing else. The widget itself needs none: it adds a frame.
    `trusted-types ${widget ? 'telegram-widget' : "'none'"}`,
  ].join('; ')
}

/**
 * Renders the consent page as a single file without embedded data. Its script loads the request with the user's session
 * and submits the decision. URLs are relative, so the page works below any path. Inside Telegram the page
 * accepts only Telegram's signed launch data as proof of identity and runs no third-party script.
 */
export const consentPage = (options: ConsentPageOptions): ConsentPage => ({
  html: html(options),
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': securityPolicy(options),
    // The address contains the request's nonce.
    'referrer-policy': 'no-referrer',
    // The header can't name an origin, so in the messenger only the security policy says who may frame the page.
    ...(options.entry === 'page' && { 'x-frame-options': 'DENY' }),
  },
})

const textOf = ({ packed }: { packed: string }): string => inflateRawSync(Buffer.from(packed, 'base64')).toString()

const COUNTDOWN = '<span class="left" role="timer">–:––</span>'

const rootOf = (entry: Entry): string => (entry === 'mini_app' ? '../../' : '../')

/** Texts that differ by who asks. */
const wordsFor = (asks: Asks, platform: string, t: Translate) =>
  asks === 'app'
    ? {
        asking: t('{app} by {developer}{verified} is requesting access to a workspace on {platform}.', {
          app: '<strong><bdi id="asking-app">An app</bdi></strong>'.replace('An app', t('An app')),
          developer: `<bdi id="asking-developer">${t('a developer')}</bdi>`,
          verified: `<span id="asking-verified" hidden> ${t('(verified)')}</span>`,
          platform,
        }),
        title: t('{app} is requesting access', { app: '<bdi id="app-name"></bdi>' }),
        by: t('by {developer}', { developer: '<bdi id="developer"></bdi>' }),
        place: t('Install in workspace'),
        able: t('This app will be able to'),
        refusable: t('Permissions marked as sensitive are optional. Clear the ones you don’t want to allow.'),
        power: t('If you approve, {app} can work in the workspace with the permissions above.', { app: NEXT_APP }),
        end: t('Admins of the workspace can change or remove the access at any time, under Agents in the console.'),
      }
    : {
        asking: t(
          'An assistant that calls itself {name} ({host}){verified} is requesting access in your name on {platform}.',
          {
            name: '<strong>“<bdi id="asking-app"></bdi>”</strong>',
            host: '<bdi id="asking-developer"></bdi>',
            verified: '<span id="asking-verified" hidden></span>',
            platform,
          },
        ),
        title: t('“{app}” is requesting access', { app: '<bdi id="app-name"></bdi>' }),
        by: t('from {host}', { host: '<bdi id="developer"></bdi>' }),
        place: t('Workspace in which it may act for you'),
        able: t('It will be able to do this in your name'),
        refusable: t('Permissions marked as sensitive are off unless you tick them.'),
        power: t(
          'If you approve, {app} can do the above for you in this workspace, as far as your own role allows, for up to 180 days.',
          { app: NEXT_APP },
        ),
        end: t(
          'You can disconnect it at any time, under Connected assistants in the console. Admins of the workspace can, too.',
        ),
      }

const NEXT_APP = '<bdi id="next-app"></bdi>'

const html = ({ brand, language, t, entry, asks, localSignIn, loginWidget }: ConsentPageOptions): string => {
  const words = wordsFor(asks, brand.name, t)
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${t('Allow access')}</title>
<style>${textOf(STYLE)}</style>
${brandLinks(brand, rootOf(entry))}
</head>
<body ${brandData(brand)} data-entry="${entry}" data-asks="${asks}" data-root="${rootOf(entry)}" data-local-sign-in="${localSignIn && entry === 'page'}" data-login-widget="${loginWidget && entry === 'page'}">
<main>
<p class="brand"><img src="${rootOf(entry)}brand.svg?v=${brand.version}" alt="" width="28" height="28"> ${brand.name}</p>
<p id="announcement" role="status" class="unseen"></p>
<section id="wait"><p role="status">${t('Loading…')}</p></section>

<section id="sign-in" hidden>
<h1 tabindex="-1">${t('Sign in to continue')}</h1>
<p id="sign-in-note" role="status" hidden></p>
<p>${words.asking} ${t('You see what it asks for before you decide. This link expires in {time}.', { time: COUNTDOWN })}</p>
<div id="hand-over" hidden>
<a id="hand-over-link" class="button primary" target="_blank" rel="noopener noreferrer">${t('Continue in Telegram')}</a>
<p class="hint">${t('Opens Telegram, where you’re already signed in. Keep this page open.')}</p>
</div>
<div id="widget" hidden>
<p class="or">${t('or sign in here')}</p>
<div id="widget-place"></div>
</div>
<form id="sign-in-form" hidden>
<p class="hint">${t('Local development: enter any name. The same name always signs in the same person or opens the same workspace. You can also enter a workspace ID ({id}), such as your developer sandbox’s.', { id: '<code>ws_…</code>' })}</p>
<label for="user">${t('Person')}</label>
<input id="user" autocomplete="off" required maxlength="100" value="local-user">
<label for="workspace">${t('Workspace')} <span class="hint">${t('(optional; defaults to your own)')}</span></label>
<input id="workspace" autocomplete="off" maxlength="100">
<div class="actions"><button class="primary" type="submit">${t('Sign in')}</button></div>
</form>
<p id="no-way" hidden></p>
</section>

<section id="handed-over" hidden>
<h1 tabindex="-1">${t('Continue in Telegram')}</h1>
<p>${t('Approve or decline the request there. This page updates when you’re done. The link expires in {time}.', { time: COUNTDOWN })}</p>
<p id="handed-over-problem" class="problem" role="status" hidden>${t('Connection lost. Retrying…')}</p>
<div class="actions">
<button id="stay-here" type="button">${t('Sign in here instead')}</button>
<a id="hand-over-again" class="button" target="_blank" rel="noopener noreferrer">${t('Open Telegram again')}</a>
</div>
</section>

<section id="request" hidden aria-labelledby="title">
<header>
<div id="logo" aria-hidden="true"><span id="initial"></span><img id="logo-image" alt="" hidden referrerpolicy="no-referrer"></div>
<div>
<h1 id="title" tabindex="-1">${words.title}</h1>
<p class="by">${words.by}</p>
<p id="badge"></p>
</div>
</header>
<p id="similar" class="problem" hidden></p>
<p id="summary" dir="auto"></p>
<form id="decision-form">
<div id="place-choice">
<label for="place">${words.place}</label>
<select id="place"></select>
</div>
<p id="place-problem" class="problem" hidden></p>
<div id="pass-on" class="note" hidden>
<p>${t('You can also pass this link to someone who can install the app. It works for them until it expires or somebody decides.')}</p>
<button id="pass-on-copy" type="button">${t('Copy link')}</button>
<p id="pass-on-state" role="status"></p>
</div>
<p id="again" class="note" hidden>${t('This app is already installed in this workspace. New permissions are marked. Nothing changes until you approve.')}</p>
<fieldset>
<legend>${words.able}</legend>
<div id="scopes"></div>
</fieldset>
<p id="refusable" class="hint" hidden>${words.refusable}</p>
<div id="lost" hidden>
<h2>${t('This app will no longer be able to')}</h2>
<ul id="lost-scopes"></ul>
</div>
<h2>${t('What happens next')}</h2>
<ol>
<li>${words.power}</li>
<li>${t('You return to {host}, whether you approve or decline.', { host: '<strong id="next-host"></strong>' })}</li>
<li>${words.end}</li>
</ol>
<p id="problem" class="problem" role="alert" hidden></p>
<div class="actions">
<button id="deny" type="button">${t('Decline')}</button>
<button id="approve" class="primary" type="submit">${t('Approve')}</button>
</div>
</form>
<footer>
<p>${t('This link expires in {time}.', { time: COUNTDOWN })}</p>
<p id="privacy" hidden><a id="privacy-link" target="_blank" rel="noopener noreferrer">${t('App’s privacy policy')}</a></p>
<p>${t('Signed in as {name}.', { name: '<bdi id="person"></bdi>' })} <button id="switch" type="button" class="link">${t('Not you? Sign out')}</button></p>
<p><a href="${rootOf(entry)}docs/notices.txt" target="_blank" rel="noopener noreferrer">${t('Third-party licences')}</a></p>
</footer>
</section>

<section id="over" hidden>
<h1 id="over-title" tabindex="-1"></h1>
<p id="over-text" role="alert"></p>
<p id="over-id" class="hint" hidden>${t('Request ID: {id}', { id: '<code id="over-request"></code>' })}</p>
<div class="actions">
<button id="over-again" type="button" hidden></button>
<a id="over-link" class="button primary" rel="noopener noreferrer" hidden></a>
</div>
</section>
<noscript><p>${t('This page needs JavaScript.')}</p></noscript>
</main>
<script>${textOf(SCRIPTS[language] ?? NOTHING)}</script>
</body>
</html>
`
}
