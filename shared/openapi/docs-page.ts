import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { type DocsFile, writeAsset, writePage } from './docs-assets.ts'
import {
  type DocumentedError,
  documentedErrors,
  errorsSection,
  limitsSection,
  operationsSection,
} from './docs-sections.ts'

const SOURCES = join(import.meta.dirname, '../../web/docs')

const source = (name: string): Promise<string> => readFile(join(SOURCES, name), 'utf8')

/** The reference's engine (Scalar), one file for browsers. */
const engine = (): Promise<Buffer> => {
  const manifest = findPackageJSON('@scalar/api-reference', import.meta.url)
  if (manifest === undefined) throw new Error('@scalar/api-reference is not installed')
  return readFile(join(dirname(manifest), 'dist/browser/standalone.js'))
}

/** `{{name}}` in a template; what is put in is HTML already. A name that the template or the values lack is a mistake. */
const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the page's template asks for an unknown ${name}`)
    return value
  })

const NAVIGATION: [id: string, title: string][] = [
  ['overview', 'Overview'],
  ['authentication', 'Authentication'],
  ['requests', 'Requests'],
  ['errors', 'Errors'],
  ['limits', 'Limits'],
  ['versioning', 'Versioning'],
]

export interface DocsOptions {
  /** Folder to write to; made if needed. */
  outDir: string
  errors?: Readonly<Record<string, DocumentedError>>
  /** The OpenAPI document, for the list of operations that needs no JavaScript. */
  openapi?: { paths?: Record<string, unknown> }
}

/**
 * Builds everything that `/docs` serves, compressed ahead of time: the page (guide, errors, limits; the interactive
 * reference loads on demand from `openapi.json`), its style and its scripts. Beside the files it writes `docs-files.json`,
 * `{files: DocsFile[]}`, from which the docs function answers.
 */
export const buildDocsAssets = async ({ outDir, errors, openapi }: DocsOptions): Promise<{ files: DocsFile[] }> => {
  await mkdir(outDir, { recursive: true })
  const [template, overview, authentication, requests, versioning, style, script] = await Promise.all(
    [
      'page.html',
      'sections/overview.html',
      'sections/authentication.html',
      'sections/requests.html',
      'sections/versioning.html',
      'docs.css',
      'docs.js',
    ].map(source),
  )
  const assets = await Promise.all([
    writeAsset(outDir, 'docs.css', Buffer.from(style ?? '')),
    writeAsset(outDir, 'docs.js', Buffer.from(script ?? '')),
    writeAsset(outDir, 'reference.js', await engine()),
  ])
  // Relative to /docs, so that the page also works below a stage's path prefix.
  const [stylesheet = '', ownScript = '', engineScript = ''] = assets.map(({ path }) => path.slice(1))
  const html = filled(template ?? '', {
    stylesheet,
    script: ownScript,
    engine: engineScript,
    navigation: NAVIGATION.map(([id, title]) => `<a href="#${id}">${title}</a>`).join('\n      '),
    sections: [
      overview,
      authentication,
      requests,
      errorsSection(errors ?? documentedErrors()),
      limitsSection(),
      versioning,
      operationsSection(openapi),
    ].join('\n'),
  })
  const files = [await writePage(outDir, '/docs', 'index.html', html), ...assets]
  await writeFile(join(outDir, 'docs-files.json'), `${JSON.stringify({ files }, null, 2)}\n`)
  return { files }
}
