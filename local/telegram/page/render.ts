import { createHash } from 'node:crypto'
import { style } from './style.ts'

/** A complete page without further files. */
export interface Page {
  html: string
  securityPolicy: string
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const securityPolicyOf = (script: string): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

export const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

/**
 * Builds a page of the stand-in.
 * @param parts HTML, except for the title
 */
export const renderPage = (parts: { title: string; bar: string; main: string; script: string }): Page => ({
  securityPolicy: securityPolicyOf(parts.script),
  html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Local stand-in for Telegram: ${escapeHtml(parts.title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header>
<p id="notice">Local stand-in for Telegram. Nothing here leaves this machine.</p>
<div id="bar">
${parts.bar}
<nav aria-label="Pages"><a href="./">Platform’s bot</a> <a href="botfather">BotFather</a> <a href="business">Business</a></nav>
</div>
</header>
<main>
${parts.main}
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
<script>${parts.script}</script>
</body>
</html>
`,
})
