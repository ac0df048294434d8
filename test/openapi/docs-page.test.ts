import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import MiniSearch from 'minisearch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocsFile } from '#openapi/docs-assets.ts'
import { buildDocsAssets } from '#openapi/docs-page.ts'
import { renderGuide } from '#openapi/guide-html.ts'
import { expandParts } from '#openapi/guide-parts.ts'
import { GUIDES } from '#openapi/guides.ts'
import { BASE_PLACEHOLDER } from '#shared/catalogue/manifests/document.prebuilt.ts'
import { EVENTS } from '#shared/delivery/catalogue/catalogue.ts'
import { DOCUMENT_NAMES } from '#shared/http/documents.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { sampleOpenapi } from '#test/browser/sample-openapi.ts'
import { SEARCH_OPTIONS } from '#web/docs/client/search-options.ts'

/** Maximum answer of a Lambda function, as base64 within JSON. */
const LAMBDA_ANSWER = 6 * 1_024 * 1_024

/** Anchors that `/docs` has had. External links may use them. */
const FORMER = [
  'overview',
  'authentication',
  'requests',
  'idempotency',
  'pages',
  'webhook-signatures',
  'errors',
  'limits',
]

const PAGES = [
  '/docs',
  ...Object.keys(GUIDES).map((name) => `/docs/${name}`),
  '/docs/changelog',
  '/docs/status',
  '/docs/reference',
  '/docs/reference-developer',
  '/docs/reference-console',
  '/docs/reference-admin',
]

/** Addresses of other sites, and those that the pages function replaces by the operator's own. */
const OUTSIDE = [
  'https://www.standardwebhooks.com/',
  'https://www.npmjs.com/package/',
  'https://pypi.org/project/',
  'https://pkg.go.dev/',
  'https://central.sonatype.com/artifact/',
  'https://crates.io/crates/',
  'https://support-url.invalid/',
  'https://status-url.invalid/',
]

describe('buildDocsAssets', () => {
  let outDir: string
  let files: DocsFile[]
  const texts = new Map<string, string>()
  const text = (path: string): string => texts.get(path) ?? ''

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'docs-'))
    files = (await buildDocsAssets({ outDir, documentOf: () => sampleOpenapi })).files
    for (const { path, file } of files) texts.set(path, await readFile(join(outDir, file), 'utf8'))
  })
  afterAll(() => rm(outDir, { recursive: true, force: true }))

  const idsOf = (page: string) => [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)

  it('lists every written file: pages, their Markdown, files for language models, assets', async () => {
    expect(JSON.parse(await readFile(join(outDir, 'docs-files.json'), 'utf8'))).toEqual({ files })
    const markdown = [...Object.keys(GUIDES), 'changelog', 'status'].map((name) => `/docs/${name}.md`)
    expect(
      files
        .filter(({ immutable }) => !immutable)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...PAGES, ...markdown, '/docs/notices.txt', '/docs/search.json', '/llms.txt', '/llms-full.txt'].sort())
    expect(files.filter(({ immutable }) => immutable).map(({ path }) => path)).toEqual([
      expect.stringMatching(/^\/docs\/assets\/docs-[0-9a-f]{16}\.css$/),
      expect.stringMatching(/^\/docs\/assets\/guide-[0-9a-f]{16}\.js$/),
      expect.stringMatching(/^\/docs\/assets\/paint-[0-9a-f]{16}\.js$/),
    ])
  })

  it('writes no file larger than a function can answer', () => {
    for (const { path } of files) expect((Buffer.byteLength(text(path)) * 4) / 3).toBeLessThan(LAMBDA_ANSWER)
  })

  it('allows caching hashed assets forever, and revalidates pages at each visit', () => {
    for (const { immutable, headers, path } of files) {
      expect(immutable).toBe(path.startsWith('/docs/assets/'))
      const page = PAGES.includes(path)
      expect(headers['cache-control']).toContain(immutable ? 'immutable' : page ? 'must-revalidate' : 'max-age=300')
    }
  })

  it.each(['/docs', '/docs/errors', '/docs/errors.md'])(
    '%s lists every error code once, with status, meaning and fix',
    (path) => {
      const page = text(path)
      // A status with a full stop would become a list number.
      expect(page).not.toContain('<ol start')
      for (const [code, [status, message, fix]] of Object.entries(ERRORS)) {
        const mark = path.endsWith('.md') ? `\n### ${code}\n` : `<h3 id="${code}">`
        const start = page.indexOf(mark)
        expect(start, code).toBeGreaterThan(0)
        expect(page.indexOf(mark, start + 1), code).toBe(-1)
        const entry = page
          .slice(start, start + 1_200)
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
        for (const words of [String(status), message, 'Common cause:', fix]) expect(entry, code).toContain(words)
      }
    },
  )

  it('keeps the anchors that it has had', () => {
    expect(idsOf(text('/docs'))).toEqual(expect.arrayContaining([...FORMER, 'versioning', 'operations']))
  })

  it('describes limits, scopes and events from their declarations', () => {
    expect(text('/docs/limits.md')).toContain('| Requests per installation | 10 per second, bursts of 20 |')
    expect(text('/docs/limits')).toContain('<td>2 hours</td>')
    for (const scope of SCOPE_NAMES) expect(text('/docs/requests.md')).toContain(`\`${scope}\``)
    for (const [type, { audience }] of Object.entries(EVENTS))
      expect(text('/docs/webhooks.md').includes(`| \`${type}\` |`), type).toBe(audience !== 'internal')
    expect(text('/docs/webhooks.md')).toContain('10 seconds, 1 minute, 5 minutes, 30 minutes and 2 seconds')
    expect(text('/docs/errors')).toMatch(/gateway[\s\S]*doesn’t\s+start with <code>req_<\/code>/)
  })

  it('leaves no placeholder, and refuses unknown ones', () => {
    for (const { path, immutable } of files) {
      if (!immutable) expect(text(path).match(/\{\{|<!-- /), path).toBeNull()
    }
    expect(() => expandParts('<!-- table:nothing -->', {})).toThrow('Unknown part of a guide: table:nothing')
    expect(() => expandParts('<!-- limit:nothing -->', {})).toThrow('Unknown limit: nothing')
  })

  it.each(PAGES)('%s links only to existing pages and anchors, and loads nothing from elsewhere', (path) => {
    const page = text(path)
    const ids = idsOf(page)
    expect(new Set(ids).size, 'ids are unique').toBe(ids.length)
    const other = [
      '/brand.css',
      '/brand.svg',
      '/developers',
      '/docs/sdk',
      '/packages/',
      '/openapi.json',
      ...DOCUMENT_NAMES.map((name) => `/openapi/${name}.json`),
      '/schemas/manifest.json',
      '/api/v1/dev/sdk/examples/install.py',
      '/.well-known/oauth-authorization-server',
    ]
    for (const [, address = ''] of page.matchAll(/href="([^"]+)"/g)) {
      if (OUTSIDE.some((known) => address.startsWith(known))) continue
      const { origin, pathname, hash } = new URL(address, `${BASE_PLACEHOLDER}${path}`)
      expect(origin, address).toBe(BASE_PLACEHOLDER)
      expect([...texts.keys(), ...other], address).toContain(pathname)
      const part = decodeURIComponent(hash.slice(1))
      if (part !== '') expect(idsOf(text(pathname)), address).toContain(part)
    }
    for (const [, address = ''] of page.matchAll(/src="([^"]+)"/g))
      expect([...texts.keys(), '/brand.svg'], address).toContain(
        new URL(address, `${BASE_PLACEHOLDER}${path}`).pathname,
      )
  })

  it.each(PAGES)('%s has no inline script, so that the policy can forbid them', (path) => {
    expect(text(path).match(/<script(?![^>]*\ssrc=)/)).toBeNull()
    expect(text(path).match(/\son\w+="/)).toBeNull()
    expect(files.find((file) => file.path === path)?.headers['content-security-policy']).toContain("script-src 'self'")
  })

  it('llms.txt names every guide as Markdown, with its purpose', () => {
    const llms = text('/llms.txt')
    expect(llms).toMatch(/^# .+\n\n> .+\n/)
    for (const [name, description] of Object.entries(GUIDES))
      expect(llms).toMatch(new RegExp(`^- \\[.+\\]\\(${BASE_PLACEHOLDER}/docs/${name}\\.md\\): ${description}$`, 'm'))
    expect(llms).toContain(`(${BASE_PLACEHOLDER}/openapi.json)`)
    for (const name of Object.keys(GUIDES)) expect(text('/llms-full.txt')).toContain(text(`/docs/${name}.md`).trim())
  })

  it('serves Markdown without what only tests read', () => {
    for (const name of Object.keys(GUIDES)) {
      const fences = [...text(`/docs/${name}.md`).matchAll(/^```(.+)$/gm)].map(([, info]) => info)
      for (const info of fences) expect(info, name).toMatch(/^\w+( title="[\w.]+")?$/)
    }
    expect(text('/llms-full.txt')).toContain('```python title="')
  })

  it('renders operations, webhooks and schemas under stable anchors, escaped', () => {
    const page = text('/docs/reference')
    expect(page).toContain('<code><span class="method">POST</span>/api/v1/runs</code>')
    expect(page).toContain('List &lt;webhook&gt; subscriptions')
    expect(idsOf(page)).toEqual(
      expect.arrayContaining([
        'tag/runs',
        'tag/webhooks',
        'startRun',
        'listRuns',
        'webhook/run.succeeded',
        'schema/Run',
      ]),
    )
    expect(page).toContain('<a href="#schema/Run">Run</a>')
    expect(page).toContain('maximum <code>100</code>')
  })

  it('forbids inline scripts and styles, without exceptions', () => {
    for (const { path, headers } of files)
      if (PAGES.includes(path)) expect(headers['content-security-policy'], path).not.toMatch(/unsafe|data:/)
  })

  it('highlights code by classes, and keeps its text', () => {
    const page = text('/docs/quickstart')
    expect(page).toContain('<span class="hljs-built_in">')
    expect(page).not.toContain(' style=')
    const { html } = renderGuide({ name: 'x', markdown: '```sh\necho "<b>" # &amp;\n```\n\n```cobol\na < b\n```' })
    const shown = [...html.matchAll(/<pre tabindex="0"><code>(.*?)<\/code>/gs)].map(([, code = '']) =>
      code
        .replaceAll(/<[^>]+>/g, '')
        .replaceAll('&quot;', '"')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&'),
    )
    expect(shown).toEqual(['echo "<b>" # &amp;', 'a < b'])
  })

  it('joins blocks in several languages, and leaves single ones and commands alone', () => {
    const blocks = ['ts', 'python', 'sh', 'sh tab=Python', 'sh tab=TypeScript', 'python']
    const { html } = renderGuide({ name: 'x', markdown: blocks.map((info) => `\`\`\`${info}\n1\n\`\`\``).join('\n\n') })
    const shape = [...html.matchAll(/<div class="tabs">|<figure class="code"(?: data-tab="(\w+)")?>|<\/div>/g)]
    expect(shape.map(([whole, tab]) => tab ?? (whole.startsWith('<fig') ? 'code' : whole))).toEqual([
      ...['<div class="tabs">', 'TypeScript', 'Python', '</div>', 'code'],
      ...['<div class="tabs">', 'Python', 'TypeScript', '</div>', 'Python'],
    ])
  })

  it('finds guides, error codes, operations, events and schemas', () => {
    const index = MiniSearch.loadJSON(text('/docs/search.json'), SEARCH_OPTIONS)
    const found = (query: string) => index.search(query).map(({ id }) => id)
    expect(found('too_many_active_runs').slice(0, 2)).toContain('docs/errors#too_many_active_runs')
    expect(found('rotate secret')[0]).toBe('docs/webhooks#rotate-the-secret')
    expect(found('startRun')).toContain('docs/reference#startRun')
    expect(found('repeat request safely')[0]).toBe('docs/requests#repeating-a-request-safely')
    expect(found('run.succeeded')).toContain('docs/reference#webhook/run.succeeded')
    expect(found('How do I start a run?')).toContain('docs/reference#startRun')
    expect(found('Can I repeat a request safely?')[0]).toBe('docs/requests#repeating-a-request-safely')
    expect(found('refresh tokns').length).toBeGreaterThan(0)
    for (const id of ['docs/reference#schema/Run', 'docs/changelog']) expect(index.has(id), id).toBe(true)
    for (const [page = '', part = ''] of index.search(MiniSearch.wildcard).map(({ id }) => String(id).split('#')))
      if (part !== '') expect(idsOf(text(`/${page}`)), `${page}#${part}`).toContain(part)
  })

  it('shows the changelog without links to files that aren’t served', () => {
    expect(text('/docs/changelog')).toContain('<h1 id="overview">Changelog</h1>')
    expect(text('/docs/changelog')).not.toMatch(/href="(?!changelog)[^"]*\.md/)
    expect(text('/docs/changelog.md')).not.toMatch(/\]\(docs\//)
  })

  it('keeps the script that all pages share small', () => {
    const script = files.find(({ path }) => path.endsWith('.js'))
    expect(gzipSync(text(script?.path ?? '')).length).toBeLessThan(15_000)
  })

  it('gives the same content the same names', async () => {
    const again = await mkdtemp(join(tmpdir(), 'docs-'))
    expect((await buildDocsAssets({ outDir: again, documentOf: () => sampleOpenapi })).files).toEqual(files)
    await rm(again, { recursive: true, force: true })
  })
})
