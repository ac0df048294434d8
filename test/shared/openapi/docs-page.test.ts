import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '#shared/kernel/errors.ts'
import type { DocsFile } from '#shared/openapi/docs-assets.ts'
import { buildDocsAssets } from '#shared/openapi/docs-page.ts'
import { sampleOpenapi } from '#test/browser/sample-openapi.ts'

/** What a Lambda function can answer with at most, as base64 within JSON. */
const LAMBDA_ANSWER = 6 * 1_024 * 1_024

describe('buildDocsAssets', () => {
  let outDir: string
  let files: DocsFile[]
  let page: string

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'docs-'))
    files = (await buildDocsAssets({ outDir, openapi: sampleOpenapi })).files
    page = await readFile(join(outDir, 'index.html'), 'utf8')
  })
  afterAll(() => rm(outDir, { recursive: true, force: true }))

  it('writes a table of everything it wrote, from which the page can be served', async () => {
    expect(JSON.parse(await readFile(join(outDir, 'docs-files.json'), 'utf8'))).toEqual({ files })
    expect(files.map(({ path }) => path)).toEqual([
      '/docs',
      expect.stringMatching(/^\/docs\/assets\/docs-[0-9a-f]{16}\.css$/),
      expect.stringMatching(/^\/docs\/assets\/docs-[0-9a-f]{16}\.js$/),
      expect.stringMatching(/^\/docs\/assets\/reference-[0-9a-f]{16}\.js$/),
    ])
    for (const { path } of files.slice(1)) expect(page).toContain(`"${path.slice(1)}"`)
  })

  it('writes no file larger than a function can answer', async () => {
    for (const { file } of files) {
      const { length } = await readFile(join(outDir, file))
      expect((length * 4) / 3).toBeLessThan(LAMBDA_ANSWER)
    }
  })

  it('lets named assets be kept for ever and the page be checked again at each visit', () => {
    for (const { immutable, headers, path } of files) {
      expect(immutable).toBe(path !== '/docs')
      expect(headers['cache-control']).toContain(immutable ? 'immutable' : 'must-revalidate')
    }
  })

  it('has one element for every error code, with its status, meaning and mend, readable without scripts', () => {
    for (const [code, [status, message]] of Object.entries(ERRORS)) {
      const start = page.indexOf(`id="${code}"`)
      expect(start, code).toBeGreaterThan(0)
      expect(page.indexOf(`id="${code}"`, start + 1), code).toBe(-1)
      const entry = page.slice(start, page.indexOf('</div>', start))
      expect(entry).toContain(String(status))
      expect(entry).toContain(message)
      expect(entry).toContain('What to do:')
    }
    expect(page.match(/<main[^>]*hidden/)).toBeNull()
  })

  it('says which answers are the gateway’s own and tells the limits', () => {
    expect(page).toMatch(/gateway[\s\S]*does not begin with <code>req_<\/code>/)
    expect(page).toContain('10 a second, bursts of 20')
    expect(page).toContain('<td>2 hours</td>')
  })

  it('links only to anchors that exist, and to this platform', () => {
    const ids = new Set([...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids, target).toContain(target)
    for (const [, address] of page.matchAll(/(?:href|src)="([^"#]+)"/g))
      expect(address).toMatch(/^(docs\/assets\/|openapi\.json$|schemas\/manifest\.json$|data:,$)/)
    expect(ids.size).toBe([...page.matchAll(/\sid="/g)].length)
  })

  it('has no inline script, so that the policy can forbid them', () => {
    expect(page.match(/<script(?![^>]*\ssrc=)/)).toBeNull()
    expect(page.match(/\son\w+="/)).toBeNull()
    expect(files[0]?.headers['content-security-policy']).toContain("script-src 'self'")
  })

  it('lists the operations of the document, escaped', () => {
    expect(page).toContain('<code><span class="method">POST</span>/api/v1/runs</code> Create a run and start it')
    expect(page).toContain('List &lt;webhook&gt; subscriptions')
  })

  it('gives the same names for the same content', async () => {
    const again = await mkdtemp(join(tmpdir(), 'docs-'))
    expect((await buildDocsAssets({ outDir: again, openapi: sampleOpenapi })).files).toEqual(files)
    await rm(again, { recursive: true, force: true })
  })
})
