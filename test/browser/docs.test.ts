import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildDocsAssets } from '#openapi/docs-page.ts'
import { GUIDES } from '#openapi/guides.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { usingChromium } from '#testkit/using-chromium.ts'
import { findViolations, THEMES, takePicture } from './accessible.ts'
import { type DocsServer, serveDocs } from './docs-server.ts'
import { sampleOpenapi } from './sample-openapi.ts'

describe.each(THEMES)('/docs in a browser that prefers %s', (colorScheme) => {
  let outDir: string
  const chromium = usingChromium()
  let server: DocsServer
  let page: Page
  let requests: string[]
  let complaints: string[]

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'docs-'))
    const { files } = await buildDocsAssets({ outDir, documentOf: () => sampleOpenapi })
    server = await serveDocs(outDir, files, sampleOpenapi, '/stage')
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await rm(outDir, { recursive: true, force: true })
  })

  beforeEach(async () => {
    page = await chromium.browser.newPage({ colorScheme, viewport: { width: 1_280, height: 900 } })
    requests = []
    complaints = []
    page.setDefaultTimeout(60_000)
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

  const picture = (name: string) => takePicture(page, `docs-${colorScheme}-${name}`)

  const reference = () => page.getByRole('main')
  const openReference = async () => {
    await page.goto(`${server.url}/docs/reference`)
    await reference().getByText('Create a run and start it').first().waitFor()
  }

  it('links to every guide from the start page, without loading the reference', async () => {
    await page.goto(`${server.url}/docs`)
    await page.getByRole('heading', { level: 1, name: 'Agent Integration Platform' }).waitFor()
    await picture('start')
    expect(await page.locator('nav.side > ul > li').count()).toBe(Object.keys(GUIDES).length)
    expect(requests.some((url) => url.includes('/reference-'))).toBe(false)
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('main').getByRole('link', { name: 'quickstart', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Quickstart' }).waitFor()
    expect(page.url()).toBe(`${server.url}/docs/hosted-quickstart`)
  })

  // Colours depend on the scheme and the layout on the width, so one width per scheme is enough.
  const width = colorScheme === 'light' ? 1_280 : 360

  it.each(sampleOf(Object.keys(GUIDES), 6))(
    `%s has no axe violations and no overflow at ${width} pixels`,
    async (name) => {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${server.url}/docs/${name}`)
      await page.locator('nav.side a[aria-current]').waitFor()
      await picture(name)
      expect(await findViolations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    },
  )

  it('navigates between guides with the keyboard', async () => {
    await page.goto(`${server.url}/docs/quickstart`)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    await page.getByRole('link', { name: /^Next (?!steps)/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Behind a tunnel or a proxy' }).waitFor()
    await page.getByRole('link', { name: /^Previous/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Run the platform yourself' }).waitFor()
  })

  it('finds guides and operations by keyboard, and goes there', async () => {
    await page.goto(`${server.url}/docs/quickstart`)
    const search = page.getByRole('dialog', { name: 'Search' })
    await page.keyboard.press('/')
    expect(await search.isVisible()).toBe(false)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('rotate secret')
    await search.getByRole('link', { name: /^Rotate the secret/ }).waitFor()
    await picture('search')
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('#rotate-the-secret:target').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('list runs')
    await search
      .getByRole('link', { name: /^List runs/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.url}/docs/reference#listRuns`)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('zzzzzzzz')
    await search.getByText('Nothing found for “zzzzzzzz”').waitFor()
    await page.keyboard.press('Escape')
    expect(await search.isVisible()).toBe(false)
  })

  it('says why when the search can’t be loaded, and loads it at the next try', async () => {
    await page.goto(`${server.url}/docs/quickstart`)
    await page.route('**/docs/search.json', (route) => route.abort())
    await page.getByRole('button', { name: 'Search' }).click()
    await page.keyboard.type('limits')
    await page.getByRole('dialog').getByText('couldn’t be loaded').waitFor()
    await page.unroute('**/docs/search.json')
    // Each letter tried to load it, and the last of these tries may still be about to fail.
    const links = page.getByRole('dialog').getByRole('link')
    await expect
      .poll(async () => {
        await page.keyboard.type(' ')
        await page.keyboard.press('Backspace')
        return links.count()
      })
      .toBeGreaterThan(0)
    complaints = complaints.filter((text) => !text.includes('ERR_FAILED'))
  })

  it('switches all examples to the language that the reader chose, and remembers it', async () => {
    await page.goto(`${server.url}/docs/a2a`)
    const python = page.getByRole('tab', { name: 'Python' })
    await page.getByRole('tab', { name: 'TypeScript', selected: true }).waitFor()
    expect(await page.getByRole('tabpanel').count()).toBe(1)
    await python.click()
    await page.getByText('import httpx').waitFor()
    await picture('tabs')
    expect(await findViolations(page)).toEqual([])
    await page.goto(`${server.url}/docs/a2a-agents`)
    await page.getByText('import uvicorn').waitFor()
    await page.getByRole('tab', { selected: true }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('tab', { name: 'TypeScript', selected: true }).waitFor()
  })

  it('takes feedback, and asks what was missing', async () => {
    await page.goto(`${server.url}/docs/limits`)
    await page.getByRole('button', { name: 'No', exact: true }).click()
    await page.getByLabel('What is missing or wrong?').fill('The burst of tools.')
    expect(await findViolations(page)).toEqual([])
    const sent = page.waitForRequest('**/api/v1/dev/docs/feedback')
    await page.getByRole('button', { name: 'Send' }).click()
    expect((await sent).postDataJSON()).toEqual({ page: 'limits', helpful: false, comment: 'The burst of tools.' })
    await page.getByText('Thank you.').first().waitFor()
  })

  it('shows whether the platform answers', async () => {
    await page.route('**/console/me', (route) => route.abort())
    await page.goto(`${server.url}/docs/status`)
    await page.getByText('1 of 6 parts don’t answer as they should.').waitFor()
    expect(await page.getByText(/^Works/).count()).toBe(5)
    await picture('status')
    expect(await findViolations(page)).toEqual([])
    complaints = complaints.filter((text) => !text.startsWith('Failed to load resource'))
  })

  it('copies a code block verbatim', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${server.url}/docs/quickstart`)
    const block = page.locator('figure.code', { hasText: 'npm ci' })
    await block.getByRole('button', { name: 'Copy: Terminal' }).click()
    await page.getByRole('status').getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm ci && npm start')
    await picture('copied')
  })

  it('shows the operations and events of openapi.json in the reference', async () => {
    await openReference()
    for (const text of ['Developer API', 'Integration', 'List runs']) await page.getByText(text).first().waitFor()
    await reference().getByText('A run succeeded').first().waitFor()
    await reference().getByText('List <webhook> subscriptions').first().waitFor()
    await picture('reference')
    expect(await findViolations(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await picture('reference-390')
    await page.goto(`${server.url}/docs/reference#webhook/run.succeeded`)
    await page.locator('[id="webhook/run.succeeded"]:target').waitFor()
    expect(
      requests.some((url) => url.endsWith('/docs/search.json')),
      'loads the index at the first search',
    ).toBe(false)
  })

  it('scrolls to and highlights the error code of a docs_url, without loading the reference', async () => {
    for (const path of ['/docs', '/docs/errors']) {
      await page.goto(`${server.url}${path}#too_many_active_runs`)
      const entry = page.locator('#too_many_active_runs')
      await entry.waitFor()
      const box = await entry.boundingBox()
      expect(box?.y).toBeGreaterThanOrEqual(48)
      expect(box?.y).toBeLessThan(200)
      expect(await entry.textContent()).toBe('too_many_active_runs')
      expect(await page.getByText(ERRORS.too_many_active_runs[2]).first().isVisible()).toBe(true)
      expect(
        await entry.evaluate((element: { matches: (selector: string) => boolean }) => element.matches(':target')),
      ).toBe(true)
      await picture(`error${path.replaceAll('/', '-')}`)
      expect(await findViolations(page)).toEqual([])
    }
    expect(requests.some((url) => url.includes('/reference-'))).toBe(false)
  })

  it('navigates from an error to the reference and back', async () => {
    await page.goto(`${server.url}/docs#rate_limited`)
    await page.getByRole('link', { name: 'API reference' }).first().click()
    await reference().getByText('Create a run and start it').first().waitFor()
    await page.goBack()
    await page.locator('#rate_limited:target').waitFor()
    await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Limits' }).click()
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
  })

  /** Evaluates a script in the page, and returns the name of the error that it throws. */
  const thrownBy = (script: string) => page.evaluate(`(() => { try { ${script} } catch (e) { return e.name } })()`)

  it('makes no markup from text, and runs no other script, on a guide', async () => {
    await page.goto(`${server.url}/docs/quickstart`)
    expect(await thrownBy("document.body.innerHTML = '<p>'")).toBe('TypeError')
    expect(await thrownBy("document.createElement('script').src = '/docs/other.js'")).toBe('TypeError')
    complaints = complaints.filter((text) => !text.includes('Trusted'))
  })

  it('is readable without JavaScript: guides, every error, every operation', async () => {
    const plain = await chromium.browser.newContext({ javaScriptEnabled: false, colorScheme })
    const still = await plain.newPage()
    await still.goto(`${server.url}/docs#internal_error`)
    for (const code of Object.keys(ERRORS)) expect(await still.locator(`[id="${code}"]`).isVisible(), code).toBe(true)
    await still.goto(`${server.url}/docs/quickstart`)
    expect(await still.getByText('npm ci && npm start').isVisible()).toBe(true)
    await still.goto(`${server.url}/docs/reference`)
    expect(await still.getByRole('heading', { name: 'Create a run and start it' }).isVisible()).toBe(true)
    await plain.close()
  })
})
