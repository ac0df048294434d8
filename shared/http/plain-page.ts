import { createHash } from 'node:crypto'
import type { StoredResponse } from './idempotency.ts'

const STYLE =
  ':root{color-scheme:light dark}body{max-width:34rem;margin:0 auto;padding:12vh 1.25rem 3rem;font:1rem/1.55 system-ui,sans-serif}h1{font-size:1.5rem;line-height:1.25}button{min-height:2.75rem;padding:0 1.25rem;font:inherit;font-weight:600}a[role=button]{display:inline-block;padding:.625rem 1.25rem;border:1px solid;border-radius:.5rem;color:inherit;font-weight:600;text-decoration:none}dl{margin:2rem 0 0;padding-top:1rem;border-top:1px solid color-mix(in srgb,currentColor 20%,transparent);font-size:.875rem}dt{opacity:.75}dd{margin:0 0 .5rem;overflow-wrap:anywhere}'

const policy = (formAction: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

/**
 * Renders a page without a script, for people who followed a link.
 *
 * @param options.content HTML of the page, in which values are escaped
 */
export const plainPage = (options: {
  status: number
  language: string
  title: string
  content: string
  headers?: Record<string, string>
  /** The page has a form to its own address. */
  hasForm?: true
}): StoredResponse => ({
  status: options.status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy(options.hasForm ? "'self'" : "'none'"),
    'referrer-policy': 'no-referrer',
    ...options.headers,
  },
  body: `<!doctype html>
<html lang="${options.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${options.title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${options.title}</h1>
${options.content}
</main>
</body>
</html>
`,
})
