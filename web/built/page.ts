import { directionOf } from './direction.ts'
import type { PageBuild, PageEntry } from './files.ts'

/** Brand of a page. */
export interface PageBrand {
  name: string
  supportUrl?: string | undefined
  /** Changes with the files of the brand. */
  version: string
}

interface Head {
  brand: PageBrand
  /** Language of the page, one of the build's. */
  language: string
  title: string
  /** URL of the scripts and styles, relative to the page; ends with a slash. */
  assets: string
  /** Configuration for the script, as `data-` attributes. Values aren't escaped. */
  data: Readonly<Record<string, string | boolean>> & { root: string; entry: string }
  /**
   * Where the page keeps its session, and the requests that it starts with. If `later` is set, this path and the screen's data are
   * requested once all of `paths` have been answered.
   */
  early: { session: string; credential?: string; paths: string[]; later?: string }
  /** Message shown while the script loads. */
  loading: string
  /** Message shown when JavaScript is off. */
  scriptless: string
}

/** Escapes text for an attribute in double quotes. */
const attribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Renders the icon and the colours of a brand. They come after the page's own styles. @param root the platform's root */
export const brandLinks = ({ name, version }: PageBrand, root: string): string =>
  `<link rel="icon" href="${root}brand.svg?v=${version}" type="image/svg+xml">
<link rel="stylesheet" href="${root}brand.css?v=${version}">
<meta name="application-name" content="${attribute(name)}">
<meta property="og:site_name" content="${attribute(name)}">`

/** Renders a brand's `data-` attributes for the page's script. */
export const brandData = ({ name, supportUrl, version }: PageBrand): string =>
  [
    `data-brand="${attribute(name)}"`,
    `data-brand-version="${version}"`,
    supportUrl ? `data-support="${attribute(supportUrl)}"` : '',
  ]
    .filter(Boolean)
    .join(' ')

/** Renders a page without embedded data or inline code. URLs are relative, so it works below any path. */
export const pageHtml = (
  { brand, language, title, assets, data, early, loading, scriptless }: Head,
  { entries }: PageBuild,
): string => {
  const { script, styles, preloads, head, routes } = entries[language] ?? Object.values(entries)[0] ?? NOTHING
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title} · ${attribute(brand.name)}</title>
<script src="${assets}${head}" ${dataOf({
    entry: data.entry,
    root: data.root,
    session: early.session,
    ...(early.credential && { credential: early.credential }),
    early: early.paths.join(' '),
    ...(early.later && { later: early.later }),
    assets,
    routes: attribute(JSON.stringify(routes)),
    parts: attribute(
      JSON.stringify(Object.fromEntries(Object.entries(entries).map(([name, { parts }]) => [name, parts]))),
    ),
  })}></script>
${styles.map((name) => `<link rel="stylesheet" href="${assets}${name}">`).join('\n')}
${preloads.map((name) => `<link rel="modulepreload" href="${assets}${name}">`).join('\n')}
${brandLinks(brand, data.root)}
<script type="module" src="${assets}${script}"></script>
</head>
<body ${brandData(brand)} ${dataOf({ ...data, ...othersOf(entries, assets) })}>
<div id="app"><main class="starting"><p role="status">${loading}</p></main></div>
<noscript><p>${scriptless}</p></noscript>
</body>
</html>
`
}

const NOTHING: PageEntry = { script: '', styles: [], preloads: [], head: '', routes: {}, parts: [] }

const dataOf = (data: Readonly<Record<string, string | boolean>>): string =>
  Object.entries(data)
    .map(([name, value]) => `data-${name}="${value}"`)
    .join(' ')

/** Names the page's script in each language, so that it can change to the reader's. */
const othersOf = (entries: PageBuild['entries'], assets: string): { languages?: string } =>
  Object.keys(entries).length > 1
    ? {
        languages: Object.entries(entries)
          .map(([language, { script }]) => `${language}=${assets}${script}`)
          .join(' '),
      }
    : {}
