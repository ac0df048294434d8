import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { BASE_PLACEHOLDER } from '#shared/catalogue/manifests/index.ts'
import type { DocumentName } from '#shared/http/documents.ts'
import { escapeHtml } from '#shared/kernel/escape-html.ts'
import { browserModules } from '#web/built/modules.ts'
import { NOTICES, noticesOf, packagesOf } from '#web/built/notices.ts'
import { readChangelog } from './changelog.ts'
import { type DocsFile, writeAsset, writeIndex, writeMarkdown, writePage } from './docs-assets.ts'
import { referenceParts, renderReference } from './docs-reference.ts'
import { type Heading, renderGuide } from './guide-html.ts'
import { type Guide, readGuides, SECTIONS, START, servedMarkdown } from './guides.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { guideParts, searchIndex } from './search-index.ts'
import { statusPage } from './status-page.ts'

const SOURCES = join(import.meta.dirname, '../web/docs')

/** Replaces each `{{name}}` of a template with its value, which must be HTML already. @throws for a name without a value */
const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`The page template uses an unknown placeholder: ${name}`)
    return value
  })

/** Inserts the placeholder that the pages function replaces with the deployment's address. */
const placed = (text: string): string => text.replaceAll('{{base_url}}', BASE_PLACEHOLDER)

/** Links of the bar at the top, by page. */
const TOP: Readonly<Record<string, string>> = {
  'docs/reference': 'API reference',
  'docs/changelog': 'Changelog',
  'docs/status': 'Status',
  developers: 'Developer portal',
}

const topLinks = (up: string, present: string): string =>
  Object.entries(TOP)
    .map(([to, title]) => `<a href="${up}${to}"${to === present ? ' aria-current="page"' : ''}>${title}</a>`)
    .join('\n      ')

/** Renders the list of guides by section, with the headings of the current one. */
const navigation = (guides: readonly Guide[], present: string, headings: readonly Heading[], up: string): string => {
  const onPage = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  const link = ({ name, title }: Guide) =>
    name === present
      ? `<li><a href="${up}docs/${name}" aria-current="page">${escapeHtml(title)}</a><ul>${onPage.join('')}</ul></li>`
      : `<li><a href="${up}docs/${name}">${escapeHtml(title)}</a></li>`
  return Object.entries(SECTIONS)
    .map(([heading, own]) => {
      const links = guides.filter(({ name }) => name in own).map(link)
      return `<p class="section">${escapeHtml(heading)}</p>\n<ul>${links.join('\n')}</ul>`
    })
    .join('\n')
}

/** Renders links to the previous and next guides. */
const neighbours = (guides: readonly Guide[], present: string): string => {
  const at = guides.findIndex(({ name }) => name === present)
  if (at < 0) return ''
  const link = (guide: Guide | undefined, relation: string, word: string) =>
    guide ? `<a rel="${relation}" href="../docs/${guide.name}"><span>${word}</span> ${escapeHtml(guide.title)}</a>` : ''
  return `<nav class="neighbours" aria-label="Previous and next">${link(guides[at - 1], 'prev', 'Previous')}${link(guides[at + 1], 'next', 'Next')}</nav>`
}

interface Shared {
  outDir: string
  guides: readonly Guide[]
  /** Fills the template in. */
  render: (page: Page) => string
}

/** Parts that differ from page to page, as HTML except `title` and `description`. */
interface Page {
  /** Name below `/docs`, or {@link START}. */
  name: string
  title: string
  description: string
  /** Name of the navigation at the side. */
  side: string
  navigation: string
  content: string
  after?: string
  /** Address of the page's text as Markdown, relative to the page. */
  markdown?: string
}

/** Stand for HTML that may contain the template's braces, until the template is filled in. */
const CONTENT = '\u0000'
const NAVIGATION = '\u0001'

const renderer =
  (template: string, assets: { stylesheet: string; script: string; paint: string }): Shared['render'] =>
  ({ name, title, description, side, navigation, content, after = '', markdown }) => {
    const up = name === START ? '' : '../'
    return filled(template, {
      ...assets,
      up,
      name,
      title: escapeHtml(name === START ? title : `${title} – Agent Integration Platform`),
      description: escapeHtml(description),
      alternate: markdown === undefined ? '' : `<link rel="alternate" type="text/markdown" href="${markdown}" />`,
      links: topLinks(up, `docs/${name}`),
      side,
      navigation: NAVIGATION,
      content: CONTENT,
      after,
    })
      .replace(CONTENT, () => content)
      .replace(NAVIGATION, () => navigation)
  }

const writeGuide = async ({ outDir, guides, render }: Shared, guide: Guide): Promise<DocsFile[]> => {
  const { name, title } = guide
  const isStart = name === START
  const { html, headings } = renderGuide(guide)
  const page = render({
    name,
    title,
    description: guide.description || 'Guides and the API reference of the Agent Integration Platform.',
    side: 'Guides',
    navigation: navigation(guides, name, headings, isStart ? '' : '../'),
    content: html,
    after: neighbours(guides, name),
    markdown: isStart ? 'llms.txt' : `${name}.md`,
  })
  const path = isStart ? '/docs' : `/docs/${name}`
  return [
    await writePage(outDir, path, `${isStart ? 'index' : `guide-${name}`}.html`, placed(page)),
    ...(isStart ? [] : [await writeMarkdown(outDir, `${path}.md`, `guide-${name}.md`, placed(servedMarkdown(guide)))]),
  ]
}

export interface DocsOptions {
  /** Folder to write to. Created if needed. */
  outDir: string
  /** Returns an OpenAPI document by its name, to render its reference. */
  documentOf: (name: ReferenceName) => object
}

type ReferenceName = Exclude<DocumentName, 'openapi' | 'essentials'>

/** Reference pages by document, the first one at `/docs/reference`. */
const REFERENCES: Readonly<Record<ReferenceName, { page: string; title: string }>> = {
  integration: { page: 'reference', title: 'Integration API' },
  developer: { page: 'reference-developer', title: 'Developer API' },
  console: { page: 'reference-console', title: 'Console API' },
  admin: { page: 'reference-admin', title: 'Admin API' },
}

const REFERENCE_NAMES = Object.keys(REFERENCES) as ReferenceName[]

/** Renders links to all references and to the document that the present one shows. */
const referenceLinks = (present: ReferenceName): string => {
  const links = REFERENCE_NAMES.map((name) => {
    const { page, title } = REFERENCES[name]
    return `<a href="${page}"${name === present ? ' aria-current="page"' : ''}>${title}</a>`
  })
  return `<nav class="references" aria-label="References">${links.join('\n')}\n<a href="../openapi/${present}.json">OpenAPI</a></nav>`
}

const writeReference = ({ outDir, render }: Shared, name: ReferenceName, document: object): Promise<DocsFile> => {
  const { page, title } = REFERENCES[name]
  const { html, navigation: links } = renderReference(document)
  const text = render({
    name: page,
    title: `${title} reference`,
    description: `Every operation of the ${title}, with its fields, errors and an example.`,
    side: 'Operations',
    navigation: links,
    content: `<h1>${title} reference</h1>\n${referenceLinks(name)}\n${html}`,
  })
  return writePage(outDir, `/docs/${page}`, `${page}.html`, text)
}

/** Bundles a script or a style sheet that all pages share. @param source path below `web` */
const bundle = async (source: string): Promise<Buffer> => {
  const { outputFiles } = await build({
    entryPoints: [join(SOURCES, '..', source)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2022', 'safari16'],
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  })
  return Buffer.from(outputFiles[0]?.contents ?? '')
}

/**
 * Builds everything that `/docs` serves: the guides as pages and as Markdown, the pages of the reference, the changelog, their
 * styles, script and search index, and `/llms.txt`. Also writes `docs-files.json` (`{files: DocsFile[]}`), which the pages
 * function looks files up in, and the notices of the packages in all scripts for browsers (`/docs/notices.txt`). Addresses contain the placeholder {@link BASE_PLACEHOLDER}.
 */
export const buildDocsAssets = async ({ outDir, documentOf }: DocsOptions): Promise<{ files: DocsFile[] }> => {
  await mkdir(outDir, { recursive: true })
  const [template, style, script, paint] = await Promise.all([
    readFile(join(SOURCES, 'page.html'), 'utf8'),
    bundle('docs/docs.css'),
    bundle('docs/client/main.ts'),
    bundle('theme/paint.ts'),
  ])
  const assets = await Promise.all([
    writeAsset(outDir, 'docs.css', style),
    writeAsset(outDir, 'guide.js', script),
    writeAsset(outDir, 'paint.js', paint),
  ])
  // Relative to the base address, so that the pages also work under a stage's path prefix.
  const [stylesheet = '', ownScript = '', ownPaint = ''] = assets.map(({ path }) => path.slice(1))
  const { start, guides } = await readGuides()
  const changelog = await readChangelog()
  const shared = { outDir, guides, render: renderer(template, { stylesheet, script: ownScript, paint: ownPaint }) }
  const pages = await Promise.all([start, ...guides, changelog, statusPage()].map((guide) => writeGuide(shared, guide)))
  const references = await Promise.all(REFERENCE_NAMES.map((name) => writeReference(shared, name, documentOf(name))))
  const parts = [
    ...[...guides, changelog].flatMap(guideParts),
    ...REFERENCE_NAMES.flatMap((name) =>
      referenceParts(documentOf(name), `docs/${REFERENCES[name].page}`, REFERENCES[name].title),
    ),
  ]
  const files = [
    ...pages.flat(),
    ...references,
    await writeIndex(outDir, '/docs/search.json', 'search.json', placed(searchIndex(parts))),
    await writeMarkdown(outDir, '/llms.txt', 'llms.txt', placed(llmsText(guides))),
    await writeMarkdown(outDir, '/llms-full.txt', 'llms-full.txt', placed(llmsFullText(guides))),
    await writeMarkdown(outDir, '/docs/notices.txt', NOTICES, noticesOf(packagesOf(await browserModules()))),
    ...assets,
  ]
  await writeFile(join(outDir, 'docs-files.json'), `${JSON.stringify({ files }, null, 2)}\n`)
  return { files }
}
