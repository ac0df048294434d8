import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_PLACEHOLDER } from '#shared/domain/manifests/document.prebuilt.ts'
import { EVENTS } from '#shared/events/catalogue.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import type { DocsFile } from '#shared/openapi/docs-assets.ts'
import { buildDocsAssets } from '#shared/openapi/docs-page.ts'
import { expanded } from '#shared/openapi/guide-tables.ts'
import { GUIDES } from '#shared/openapi/guides.ts'
import { sampleOpenapi } from '#test/browser/sample-openapi.ts'

/** What a Lambda function can answer with at most, as base64 within JSON. */
const LAMBDA_ANSWER = 6 * 1_024 * 1_024

/** Anchors that `/docs` has had; links to them are out there. */
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

const PAGES = ['/docs', ...Object.keys(GUIDES).map((name) => `/docs/${name}`), '/docs/reference']

describe('buildDocsAssets', () => {
  let outDir: string
  let files: DocsFile[]
  const texts = new Map<string, string>()
  const text = (path: string): string => texts.get(path) ?? ''

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'docs-'))
    files = (await buildDocsAssets({ outDir, openapi: sampleOpenapi })).files
    for (const { path, file } of files) texts.set(path, await readFile(join(outDir, file), 'utf8'))
  })
  afterAll(() => rm(outDir, { recursive: true, force: true }))

  const idsOf = (page: string) => [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)

  it('writes a table of everything it wrote: pages, the same as Markdown, what language models read, assets', async () => {
    expect(JSON.parse(await readFile(join(outDir, 'docs-files.json'), 'utf8'))).toEqual({ files })
    const markdown = Object.keys(GUIDES).map((name) => `/docs/${name}.md`)
    expect(
      files
        .filter(({ immutable }) => !immutable)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...PAGES, ...markdown, '/llms.txt', '/llms-full.txt'].sort())
    expect(files.filter(({ immutable }) => immutable).map(({ path }) => path)).toEqual([
      expect.stringMatching(/^\/docs\/assets\/docs-[0-9a-f]{16}\.css$/),
      expect.stringMatching(/^\/docs\/assets\/guide-[0-9a-f]{16}\.js$/),
      expect.stringMatching(/^\/docs\/assets\/docs-[0-9a-f]{16}\.js$/),
      expect.stringMatching(/^\/docs\/assets\/reference-[0-9a-f]{16}\.js$/),
    ])
  })

  it('writes no file larger than a function can answer', () => {
    for (const { path } of files) expect((Buffer.byteLength(text(path)) * 4) / 3).toBeLessThan(LAMBDA_ANSWER)
  })

  it('lets named assets be kept for ever and pages be checked again at each visit', () => {
    for (const { immutable, headers, path } of files) {
      expect(immutable).toBe(path.startsWith('/docs/assets/'))
      const page = PAGES.includes(path)
      expect(headers['cache-control']).toContain(immutable ? 'immutable' : page ? 'must-revalidate' : 'max-age=300')
    }
  })

  it.each(['/docs', '/docs/errors', '/docs/errors.md'])(
    '%s has every error code once, with status, meaning and mend',
    (path) => {
      const page = text(path)
      // A status with a full stop would be the number of a list.
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
        for (const words of [String(status), message, fix]) expect(entry, code).toContain(words)
      }
    },
  )

  it('keeps the anchors that it has had', () => {
    expect(idsOf(text('/docs'))).toEqual(expect.arrayContaining([...FORMER, 'versioning', 'operations']))
  })

  it('tells limits, scopes and events from their declarations', () => {
    expect(text('/docs/limits.md')).toContain('| Requests of an installation | 10 a second, bursts of 20 |')
    expect(text('/docs/limits')).toContain('<td>2 hours</td>')
    for (const scope of SCOPE_NAMES) expect(text('/docs/requests.md')).toContain(`\`${scope}\``)
    for (const [type, { audience }] of Object.entries(EVENTS))
      expect(text('/docs/webhooks.md').includes(`| \`${type}\` |`), type).toBe(audience !== 'internal')
    expect(text('/docs/webhooks.md')).toContain('10 seconds, 1 minute, 5 minutes, 30 minutes and 2 seconds')
    expect(text('/docs/errors')).toMatch(/gateway[\s\S]*does not begin with <code>req_<\/code>/)
  })

  it('leaves nothing unfilled, and refuses what it does not know', () => {
    for (const { path, immutable } of files) {
      if (!immutable) expect(text(path).match(/\{\{|<!-- /), path).toBeNull()
    }
    expect(() => expanded('<!-- table:nothing -->', {})).toThrow('have no table:nothing')
    expect(() => expanded('<!-- limit:nothing -->', {})).toThrow('no limit nothing')
  })

  it.each(PAGES)('%s links only to pages and anchors that exist here, and loads nothing from elsewhere', (path) => {
    const page = text(path)
    const ids = idsOf(page)
    expect(new Set(ids).size, 'ids are unique').toBe(ids.length)
    const other = [
      '/docs/sdk',
      '/openapi.json',
      '/schemas/manifest.json',
      '/api/v1/dev/sdk/examples/install.py',
      '/.well-known/oauth-authorization-server',
    ]
    for (const [, address = ''] of page.matchAll(/href="([^"]+)"/g)) {
      if (address === 'data:,' || address === 'https://www.standardwebhooks.com/') continue
      const { origin, pathname, hash } = new URL(address, `${BASE_PLACEHOLDER}${path}`)
      expect(origin, address).toBe(BASE_PLACEHOLDER)
      expect([...texts.keys(), ...other], address).toContain(pathname)
      // Parts of the reference are drawn when it runs.
      const part = hash.slice(1)
      if (part !== '' && pathname !== '/docs/reference') expect(idsOf(text(pathname)), address).toContain(part)
    }
    for (const [, address = ''] of page.matchAll(/(?:src|data-engine)="([^"]+)"/g))
      expect(texts.has(new URL(address, `${BASE_PLACEHOLDER}${path}`).pathname), address).toBe(true)
  })

  it.each(PAGES)('%s has no inline script, so that the policy can forbid them', (path) => {
    expect(text(path).match(/<script(?![^>]*\ssrc=)/)).toBeNull()
    expect(text(path).match(/\son\w+="/)).toBeNull()
    expect(files.find((file) => file.path === path)?.headers['content-security-policy']).toContain("script-src 'self'")
  })

  it('llms.txt names every guide as Markdown, with what it is for', () => {
    const llms = text('/llms.txt')
    expect(llms).toMatch(/^# .+\n\n> .+\n/)
    for (const [name, description] of Object.entries(GUIDES))
      expect(llms).toMatch(new RegExp(`^- \\[.+\\]\\(${BASE_PLACEHOLDER}/docs/${name}\\.md\\): ${description}$`, 'm'))
    expect(llms).toContain(`(${BASE_PLACEHOLDER}/openapi.json)`)
    for (const name of Object.keys(GUIDES)) expect(text('/llms-full.txt')).toContain(text(`/docs/${name}.md`).trim())
  })

  it('lists the operations of the document, escaped, for who has no JavaScript', () => {
    expect(text('/docs/reference')).toContain(
      '<code><span class="method">POST</span>/api/v1/runs</code> Create a run and start it',
    )
    expect(text('/docs/reference')).toContain('List &lt;webhook&gt; subscriptions')
  })

  it('gives the same names for the same content', async () => {
    const again = await mkdtemp(join(tmpdir(), 'docs-'))
    expect((await buildDocsAssets({ outDir: again, openapi: sampleOpenapi })).files).toEqual(files)
    await rm(again, { recursive: true, force: true })
  })
})
