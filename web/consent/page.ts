import { inflateRawSync } from 'node:zlib'
import { SCRIPT, STYLE } from './assets.prebuilt.ts'

/** `page` in a browser, `mini_app` inside the messaging app. */
export type Entry = 'page' | 'mini_app'

interface ConsentPageOptions {
  entry: Entry
  /** Offer to sign in as anybody, where the deployment allows that (local development). */
  localSignIn: boolean
  /** The messenger's login widget can exist here. */
  loginWidget: boolean
}

export interface ConsentPage {
  html: string
  /** Value of Content-Security-Policy: what may run in the page, and who may frame it. */
  securityPolicy: string
}

const securityPolicy = ({ entry, loginWidget }: ConsentPageOptions): string => {
  const widget = entry === 'page' && loginWidget
  return [
    "default-src 'none'",
    `script-src ${SCRIPT.hash}${widget ? ' https://telegram.org' : ''}`,
    `style-src ${STYLE.hash}`,
    ...(widget ? ['frame-src https://oauth.telegram.org'] : []),
    // The app's logo comes from its developer.
    'img-src https: data:',
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${entry === 'mini_app' ? 'https://web.telegram.org' : "'none'"}`,
  ].join('; ')
}

/**
 * The consent page, whole: no other file, no data of its own. It asks `/oauth/consent/request` with the person's session
 * and sends what they decide. Its addresses are relative, so it works below any path. In the messaging app it takes that
 * app's word alone for who the person is, and runs nothing from elsewhere.
 */
export const consentPage = (options: ConsentPageOptions): ConsentPage => ({
  html: html(options),
  securityPolicy: securityPolicy(options),
})

const textOf = ({ packed }: { packed: string }): string => inflateRawSync(Buffer.from(packed, 'base64')).toString()

const COUNTDOWN = '<span class="left" role="timer">–:––</span>'

const html = ({ entry, localSignIn, loginWidget }: ConsentPageOptions): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Give access</title>
<link rel="icon" href="data:,">
<style>${textOf(STYLE)}</style>
</head>
<body data-entry="${entry}" data-root="${entry === 'mini_app' ? '../../' : '../'}" data-local-sign-in="${localSignIn && entry === 'page'}" data-login-widget="${loginWidget && entry === 'page'}">
<main>
<p id="announcement" role="status" class="unseen"></p>
<section id="wait"><p role="status">One moment…</p></section>

<section id="sign-in" hidden>
<h1 tabindex="-1">Sign in to decide</h1>
<p id="sign-in-note" role="status" hidden></p>
<p>An app asks for access. The link works for another ${COUNTDOWN}.</p>
<div id="hand-over" hidden>
<a id="hand-over-link" class="button primary" target="_blank" rel="noopener noreferrer">Decide in Telegram</a>
<p class="hint">Opens the messaging app, where you are signed in already. This page then waits here.</p>
</div>
<div id="widget" hidden>
<p class="or">or sign in here</p>
<div id="widget-place"></div>
</div>
<form id="sign-in-form" hidden>
<p class="hint">Local development: the same names are the same person and the same workspace. A workspace id
(<code>ws_…</code>) works too, such as that of your developer sandbox.</p>
<label for="user">Person</label>
<input id="user" autocomplete="off" required maxlength="100" value="local-user">
<label for="workspace">Workspace <span class="hint">(empty: the person’s own)</span></label>
<input id="workspace" autocomplete="off" maxlength="100">
<div class="actions"><button class="primary" type="submit">Sign in</button></div>
</form>
<p id="no-way" hidden></p>
</section>

<section id="handed-over" hidden>
<h1 tabindex="-1">Go on in Telegram</h1>
<p>Decide there. This page waits until you have, at most for another ${COUNTDOWN}.</p>
<p id="handed-over-problem" class="problem" role="status" hidden>No connection at the moment. Still waiting.</p>
<div class="actions">
<button id="stay-here" type="button">Sign in here instead</button>
<a id="hand-over-again" class="button" target="_blank" rel="noopener noreferrer">Open it again</a>
</div>
</section>

<section id="request" hidden aria-labelledby="title">
<header>
<div id="logo" aria-hidden="true"><span id="initial"></span><img id="logo-image" alt="" hidden referrerpolicy="no-referrer"></div>
<div>
<h1 id="title" tabindex="-1"><bdi id="app-name"></bdi> asks for access</h1>
<p class="by">by <bdi id="developer"></bdi></p>
<p id="badge"></p>
</div>
</header>
<p id="summary" dir="auto"></p>
<form id="decision-form">
<div id="place-choice">
<label for="place">In the workspace</label>
<select id="place"></select>
</div>
<p id="place-problem" class="problem" hidden></p>
<p id="again" class="note" hidden>The app is installed there already. What is new is marked; until you approve, nothing changes.</p>
<fieldset>
<legend>It will be able to</legend>
<ul id="scopes"></ul>
</fieldset>
<p id="refusable" class="hint" hidden>You can refuse what is marked as sensitive and grant the rest.</p>
<div id="lost" hidden>
<h2>It will no longer be able to</h2>
<ul id="lost-scopes"></ul>
</div>
<p id="problem" class="problem" role="alert" hidden></p>
<div class="actions">
<button id="deny" type="button">Decline</button>
<button id="approve" class="primary" type="submit">Approve</button>
</div>
</form>
<footer>
<p>Either way you go back to <strong id="host"></strong>. The link works for another ${COUNTDOWN}.</p>
<p id="privacy" hidden><a id="privacy-link" target="_blank" rel="noopener noreferrer">Privacy policy of the app</a></p>
<p>Signed in as <bdi id="person"></bdi>. <button id="switch" type="button" class="link">Not you? Sign out</button></p>
</footer>
</section>

<section id="over" hidden>
<h1 id="over-title" tabindex="-1"></h1>
<p id="over-text" role="alert"></p>
<p id="over-id" class="hint" hidden>Request id: <code id="over-request"></code></p>
<div class="actions">
<button id="over-again" type="button" hidden></button>
<a id="over-link" class="button primary" rel="noopener noreferrer" hidden></a>
</div>
</section>
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
<script>${textOf(SCRIPT)}</script>
</body>
</html>
`
