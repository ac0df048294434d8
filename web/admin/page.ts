import type { PageBuild } from '../built/files.ts'

/** Value of Content-Security-Policy: what may run in the page, what it may ask; nobody may frame it. */
export const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Logos are not shown: whoever submitted one would learn who looks at it, from where and when.
  'img-src data:',
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * The staff’s page: without data of its own, without anything inline. What it shows it asks for with the admin’s token. Its
 * addresses are relative, so it works below any path.
 */
export const adminPage = ({ entry: { script, styles, preloads } }: PageBuild): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Staff</title>
<link rel="icon" href="data:,">
${styles.map((name) => `<link rel="stylesheet" href="staff/assets/${name}">`).join('\n')}
${preloads.map((name) => `<link rel="modulepreload" href="staff/assets/${name}">`).join('\n')}
<script type="module" src="staff/assets/${script}"></script>
</head>
<body data-name="Staff" data-entry="page" data-root="./">
<div id="app"><main class="starting"><p role="status">One moment…</p></main></div>
<noscript><p>The staff’s page needs JavaScript.</p></noscript>
</body>
</html>
`
