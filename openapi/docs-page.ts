import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BASE_PLACEHOLDER } from '#shared/catalogue/manifests/index.ts'
import type { DocumentName } from '#shared/http/documents.ts'
import { type DocsFile, writeAsset, writeMarkdown, writePage } from './docs-assets.ts'
import { renderReference } from './docs-reference.ts'
import { escapeHtml } from './escape-html.ts'
import { type Heading, renderGuide } from './guide-html.ts'
import { type Guide, readGuides, START, servedMarkdown } from './guides.ts'
import { llmsFullText, llmsText } from './llms.ts'

const SOURCES = join(import.meta.dirname, '../web/docs')

const source = (name: string): Promise<string> => readFile(join(SOURCES, name), 'utf8')

/** Replaces each `{{name}}` of a template with its value, which must be HTML already. @throws for a name without a value */
const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`The page template uses an unknown placeholder: ${name}`)
    return value
  })

/** Inserts the placeholder that the pages function replaces with the deployment's address. */
const placed = (text: string): string => text.replaceAll('{{base_url}}', BASE_PLACEHOLDER)

/** Renders the list of guides, with the sections of the current one. */
const navigation = (guides: readonly Guide[], present: string, headings: readonly Heading[], up: string): string => {
  const onPage = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  const link = ({ name, title }: Guide) =>
    name === present
      ? `<li><a href="${up}docs/${name}" aria-current="page">${escapeHtml(title)}</a><ul>${onPage.join('')}</ul></li>`
      : `<li><a href="${up}docs/${name}">${escapeHtml(title)}</a></li>`
  return `<ul>${guides.map(link).join('\n')}</ul>`
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
  template: string
  guides: readonly Guide[]
  assets: Readonly<Record<string, string>>
}

const writeGuide = async ({ outDir, template, guides, assets }: Shared, guide: Guide): Promise<DocsFile[]> => {
  const isStart = guide.name === START
  const up = isStart ? '' : '../'
  const { html, headings } = renderGuide(guide)
  const page = filled(template, {
    up,
    title: escapeHtml(isStart ? guide.title : `${guide.title} – Agent Integration Platform`),
    description: escapeHtml(guide.description || 'Guides and the API reference of the Agent Integration Platform.'),
    alternate: isStart ? `${up}llms.txt` : `${guide.name}.md`,
    stylesheet: up + assets.stylesheet,
    script: up + assets.guideScript,
    navigation: navigation(guides, guide.name, headings, up),
    // Inserted afterwards, because placeholders in the guide itself are filled by the pages function.
    content: '\u0000',
    neighbours: neighbours(guides, guide.name),
  }).replace('\u0000', () => html)
  const path = isStart ? '/docs' : `/docs/${guide.name}`
  return [
    await writePage(outDir, path, `${isStart ? 'index' : `guide-${guide.name}`}.html`, placed(page)),
    ...(isStart
      ? []
      : [await writeMarkdown(outDir, `${path}.md`, `guide-${guide.name}.md`, placed(servedMarkdown(guide)))]),
  ]
}

export interface DocsOptions {
  /** Folder to write to. Created if needed. */
  outDir: string
  /** Returns an OpenAPI document by its name, to render its reference. */
  documentOf: (name: ReferenceName) => object
}

type ReferenceName = Exclude<DocumentName, 'openapi'>

/** Reference pages by document, the first one at `/docs/reference`. */
const REFERENCES: Readonly<Record<ReferenceName, { page: string; title: string }>> = {
  integration: { page: 'reference', title: 'Integration API' },
  developer: { page: 'reference-developer', title: 'Developer API' },
  console: { page: 'reference-console', title: 'Console API' },
  admin: { page: 'reference-admin', title: 'Admin API' },
}

/** Renders links to the references of the other APIs. */
const referenceLinks = (present: ReferenceName): string =>
  Object.entries(REFERENCES)
    .map(([name, { page, title }]) => `<a href="${page}"${name === present ? ' aria-current="page"' : ''}>${title}</a>`)
    .join('\n      ')

/**
 * Builds everything that `/docs` serves: the guides as pages and as Markdown, the pages of the reference, their
 * styles and script, and `/llms.txt`. Also writes `docs-files.json` (`{files: DocsFile[]}`), which the pages function looks
 * files up in. Addresses contain the placeholder {@link BASE_PLACEHOLDER}.
 */
export const buildDocsAssets = async ({ outDir, documentOf }: DocsOptions): Promise<{ files: DocsFile[] }> => {
  await mkdir(outDir, { recursive: true })
  const [template, reference, style, guideScript] = await Promise.all(
    ['guide.html', 'reference.html', 'docs.css', 'guide.js'].map(source),
  )
  const assets = await Promise.all([
    writeAsset(outDir, 'docs.css', Buffer.from(style ?? '')),
    writeAsset(outDir, 'guide.js', Buffer.from(guideScript ?? '')),
  ])
  // Relative to the base address, so that the pages also work under a stage's path prefix.
  const [stylesheet = '', ownGuideScript = ''] = assets.map(({ path }) => path.slice(1))
  const { start, guides } = await readGuides()
  const shared = { outDir, template: template ?? '', guides, assets: { stylesheet, guideScript: ownGuideScript } }
  const pages = await Promise.all([start, ...guides].map((guide) => writeGuide(shared, guide)))
  const references = await Promise.all(
    (Object.keys(REFERENCES) as ReferenceName[]).map((name) => {
      const { page, title } = REFERENCES[name]
      const { html: operations, navigation: links } = renderReference(documentOf(name))
      const html = filled(reference ?? '', {
        stylesheet: `../${stylesheet}`,
        title,
        document: `../openapi/${name}.json`,
        references: referenceLinks(name),
        // Inserted afterwards, because texts of the document may contain the template's braces.
        navigation: '\u0000',
        operations: '\u0001',
      })
        .replace('\u0000', () => links)
        .replace('\u0001', () => operations)
      return writePage(outDir, `/docs/${page}`, `${page}.html`, html)
    }),
  )
  const files = [
    ...pages.flat(),
    ...references,
    await writeMarkdown(outDir, '/llms.txt', 'llms.txt', placed(llmsText(guides))),
    await writeMarkdown(outDir, '/llms-full.txt', 'llms-full.txt', placed(llmsFullText(guides))),
    ...assets,
  ]
  await writeFile(join(outDir, 'docs-files.json'), `${JSON.stringify({ files }, null, 2)}\n`)
  return { files }
}
