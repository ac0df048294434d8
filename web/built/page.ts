import type { PageBuild } from './files.ts'

interface Head {
  title: string
  /** URL of the scripts and styles, relative to the page; ends with a slash. */
  assets: string
  /** Configuration for the script, as `data-` attributes. Values aren't escaped. */
  data: Readonly<Record<string, string | boolean>>
  /** Message shown when JavaScript is off. */
  scriptless: string
}

/** Renders a page without embedded data or inline code. URLs are relative, so it works below any path. */
export const pageHtml = (
  { title, assets, data, scriptless }: Head,
  { entry: { script, styles, preloads } }: PageBuild,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${styles.map((name) => `<link rel="stylesheet" href="${assets}${name}">`).join('\n')}
${preloads.map((name) => `<link rel="modulepreload" href="${assets}${name}">`).join('\n')}
<script type="module" src="${assets}${script}"></script>
</head>
<body ${Object.entries(data)
  .map(([name, value]) => `data-${name}="${value}"`)
  .join(' ')}>
<div id="app"><main class="starting"><p role="status">Loading…</p></main></div>
<noscript><p>${scriptless}</p></noscript>
</body>
</html>
`
