import { createHash } from 'node:crypto'
import { script } from './script.ts'
import { style } from './style.ts'

export interface ConsentPage {
  html: string
  /** Value of Content-Security-Policy: nothing runs but the page's own script, and nothing may frame it. */
  securityPolicy: string
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const securityPolicy = (): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    // The app's logo comes from its developer.
    'img-src https:',
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * The consent page, whole: no other file, no data of its own. It asks `/oauth/consent/request` with the person's session
 * and sends what they decide. Its addresses are relative, so it works below any path.
 * @param localSignIn offer to sign in as anybody, where the deployment allows that (local development)
 */
export const consentPage = ({ localSignIn }: { localSignIn: boolean }): ConsentPage => ({
  html: html(localSignIn),
  securityPolicy: securityPolicy(),
})

const html = (localSignIn: boolean): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Give access</title>
<style>${style}</style>
</head>
<body data-local-sign-in="${localSignIn}">
<main>
<section id="wait" role="status"><p>One moment…</p></section>

<section id="sign-in" hidden>
<h1>Sign in to decide</h1>
<p class="hint">Local development: the same names are the same person and the same workspace. A workspace id
(<code>ws_…</code>) works too, such as that of your developer sandbox.</p>
<form id="sign-in-form">
<label for="user">Person</label>
<input id="user" autocomplete="off" required maxlength="100" value="local-user">
<label for="workspace">Workspace <span class="hint">(empty: the person’s own)</span></label>
<input id="workspace" autocomplete="off" maxlength="100">
<div class="actions"><button class="primary" type="submit">Sign in</button></div>
</form>
</section>

<section id="elsewhere" hidden>
<h1>Sign in to decide</h1>
<p>Open this link where you are signed in, in the messaging app. It works for 10 minutes.</p>
</section>

<section id="request" hidden aria-labelledby="title">
<header>
<div id="logo" aria-hidden="true"><span id="initial"></span><img id="logo-image" alt="" hidden referrerpolicy="no-referrer"></div>
<div>
<h1 id="title"></h1>
<p id="verified" class="badge" hidden>Verified developer</p>
</div>
</header>
<p id="summary"></p>
<form id="decision-form">
<label for="place">In the workspace</label>
<select id="place"></select>
<p id="place-problem" class="problem" hidden></p>
<fieldset>
<legend>It will be able to</legend>
<ul id="scopes"></ul>
</fieldset>
<p id="refusable" class="hint" hidden>You can refuse what is marked as sensitive and grant the rest.</p>
<p id="problem" class="problem" role="alert" hidden></p>
<div class="actions">
<button id="deny" type="button">Decline</button>
<button id="approve" class="primary" type="submit">Approve</button>
</div>
</form>
<footer>
<p>Either way you go back to <strong id="host"></strong>. The link works until <span id="until"></span>.</p>
<p id="privacy" hidden><a id="privacy-link" target="_blank" rel="noopener noreferrer">Privacy policy of the app</a></p>
<p>Signed in as <span id="person"></span>.</p>
</footer>
</section>

<section id="over" hidden role="alert">
<h1 id="over-title"></h1>
<p id="over-text"></p>
</section>
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
<script>${script}</script>
</body>
</html>
`
