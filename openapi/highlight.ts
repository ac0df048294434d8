import { createRequire } from 'node:module'
import { escapeHtml } from '#shared/kernel/escape-html.ts'

// The package's types would bring the types of browsers into all modules, so it is loaded without them.
interface Highlighter {
  registerLanguage(name: string, grammar: unknown): void
  highlight(code: string, options: { language: string }): { value: string }
}

const require = createRequire(import.meta.url)
const hljs = require('highlight.js/lib/core') as Highlighter

/** Grammars by the names that guides use. */
const GRAMMARS: Readonly<Record<string, unknown>> = {
  sh: require('highlight.js/lib/languages/bash'),
  http: require('highlight.js/lib/languages/http'),
  json: require('highlight.js/lib/languages/json'),
  python: require('highlight.js/lib/languages/python'),
  ts: require('highlight.js/lib/languages/typescript'),
  js: require('highlight.js/lib/languages/javascript'),
  java: require('highlight.js/lib/languages/java'),
  properties: require('highlight.js/lib/languages/properties'),
  xml: require('highlight.js/lib/languages/xml'),
}

for (const [name, grammar] of Object.entries(GRAMMARS)) hljs.registerLanguage(name, grammar)

/** Renders code as HTML with a class for each kind of token, so that pages need no inline styles. */
export const highlight = (code: string, language: string): string =>
  language in GRAMMARS ? hljs.highlight(code, { language }).value : escapeHtml(code)
