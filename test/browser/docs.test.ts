import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ERRORS } from '#shared/kernel/errors.ts'
import { buildDocsAssets } from '#shared/openapi/docs-page.ts'
import { launchChromium } from './chromium.ts'
import { type DocsServer, serveDocs } from './docs-server.ts'
import { sampleOpenapi } from './sample-openapi.ts'

/** Rule and first element of what axe finds. */
const axeFindings = async (page: Page): Promise<string[]> => {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
  return page.evaluate('axe.run().then(({ violations }) => violations.map((v) => v.id + " " + v.nodes[0].html))')
}

describe.each(['light', 'dark'] as const)('/docs in a browser that prefers %s', (colorScheme) => {
  let outDir: string
  let browser: Browser
  let server: DocsServer
  let page: Page
  let requests: string[]
  let complaints: string[]

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'docs-'))
    const { files } = await buildDocsAssets({ outDir, openapi: sampleOpenapi })
    server = await serveDocs(outDir, files, sampleOpenapi, '/stage')
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
    await rm(outDir, { recursive: true, force: true })
  })

  beforeEach(async () => {
    page = await browser.newPage({ colorScheme, viewport: { width: 1_280, height: 900 } })
    requests = []
    complaints = []
    page.setDefaultTimeout(10_000)
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
  })
  afterEach(async () => {
    await page.close()
    expect(complaints).toEqual([])
    expect(requests.filter((url) => !url.startsWith(`${server.url}/`) && !url.startsWith('data:'))).toEqual([])
  })

  const reference = () => page.locator('#reference')
  const openReference = async () => {
    await page.goto(`${server.url}/docs`)
    await reference().getByText('Create a run and start it').first().waitFor()
  }

  it('renders the operations, schemas and webhooks of the OpenAPI document', async () => {
    await openReference()
    for (const text of ['List runs', 'Jobs of an agent.', '/api/v1/runs', 'run_01jd4y8m0c5w6r7t8v9x0z1a2b', 'Models'])
      await reference().getByText(text).first().waitFor()
    await reference().getByRole('button', { name: 'Webhooks' }).click()
    await reference().getByText('A run succeeded').first().waitFor()
    await reference().getByText('List <webhook> subscriptions').first().waitFor()
    expect(await page.locator('#guide').isVisible()).toBe(false)
    expect(await axeFindings(page)).toEqual([])
  })

  it('opens at the error code that docs_url names, marked, without loading the reference', async () => {
    await page.goto(`${server.url}/docs#too_many_active_runs`)
    const entry = page.locator('#too_many_active_runs')
    await entry.waitFor()
    const box = await entry.boundingBox()
    expect(box?.y).toBeGreaterThanOrEqual(48)
    expect(box?.y).toBeLessThan(200)
    expect(await entry.textContent()).toContain(ERRORS.too_many_active_runs[2])
    expect(
      await entry.evaluate((element: { matches: (selector: string) => boolean }) => element.matches(':target')),
    ).toBe(true)
    expect(requests.some((url) => url.includes('/reference-'))).toBe(false)
    expect(await axeFindings(page)).toEqual([])
  })

  it('goes from an error to the reference and back by links and by the back button', async () => {
    await page.goto(`${server.url}/docs#rate_limited`)
    await page.getByRole('link', { name: 'API reference' }).first().click()
    await reference().getByText('Create a run and start it').first().waitFor()
    await page.getByRole('link', { name: 'Limits', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Limits' }).waitFor()
    expect(await reference().isVisible()).toBe(false)
    await page.goBack()
    await reference().getByText('Create a run and start it').first().waitFor()
  })

  it('sends a request from the reference to the platform itself', async () => {
    await openReference()
    await reference()
      .getByRole('button', { name: /Test Request.*get .api.v1.runs/ })
      .click()
    const answered = page.waitForResponse((response) => response.url().includes('/api/v1/runs'))
    await page.getByRole('button', { name: /^Send Request/ }).click()
    const answer = await answered
    expect(answer.url()).toBe(`${server.url}/api/v1/runs`)
    expect(answer.status()).toBe(200)
    await page.getByText('"has_more"').first().waitFor()
  })

  it('is readable without JavaScript: guide, every error, every operation', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false, colorScheme })
    const still = await plain.newPage()
    await still.goto(`${server.url}/docs#internal_error`)
    expect(await still.getByText('Create a run and start it').isVisible()).toBe(true)
    for (const code of Object.keys(ERRORS)) expect(await still.locator(`[id="${code}"]`).isVisible(), code).toBe(true)
    await plain.close()
  })

  it('says so when the reference cannot be loaded', async () => {
    await page.route('**/reference-*.js', (route) => route.abort())
    await page.goto(`${server.url}/docs`)
    await page.getByRole('alert').getByText('could not be loaded').waitFor()
    complaints = complaints.filter((text) => !text.includes('ERR_FAILED'))
  })
})
