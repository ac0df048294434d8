import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { BuiltFiles } from '#shared/http/built-files.ts'
import { openBuiltFiles } from '#shared/http/built-files.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { serveToBrowser } from '#test/browser/consent/page-server.ts'
import { expectAccessible, type Stage } from '#test/browser/console/harness.ts'
import type { BuildOptions } from '#web/built/build.ts'

/** Has a stage serve a page in the tests' made-up language, which runs from right to left. */
export const inMadeUpLanguage = (
  stage: Stage,
  path: RegExp,
  build: (folder: string, options: BuildOptions) => Promise<void>,
  endpoints: (files: BuiltFiles) => Endpoint[],
): void => {
  let folder: string
  let server: Awaited<ReturnType<typeof serveToBrowser>>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pseudo-'))
    await build(folder, { pseudo: true })
    const { platform } = stage
    const pages = createPipeline(endpoints(openBuiltFiles([folder])), {}, async () => platform.deps)
    const call: typeof platform.call = async (method, address, options) => {
      if (!path.test(address)) return platform.call(method, address, options)
      const event = { httpMethod: method, path: address, headers: options?.headers, body: null, requestContext: {} }
      const { statusCode, headers, body } = await pages(event as unknown as APIGatewayProxyEvent, {} as Context)
      return { status: statusCode, headers: headers as Record<string, string>, body, text: body }
    }
    server = await serveToBrowser({ ...platform, call }, '/stage', true)
    stage.url = server.url
  })
  afterAll(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })
}

/**
 * Finds texts with plain Latin letters, which the made-up language has none of. Names, code, what the API says in English, and
 * addresses aren't translated.
 */
const UNTRANSLATED = `(() => {
  const own = 'bdi, code, pre, kbd, time, script, style, noscript, textarea, [lang="en"], [data-untranslated], .exact'
  const found = []
  const look = (text, element) => {
    const left = text.replaceAll(/Agent Integration Platform|https?:\\S+|[\\w.]+@\\w+|\\b\\w+[_:]\\w+\\b|\\b\\w+\\.\\w+\\b/g, '')
    // A scope's description is the API's.
    if (/[A-Za-z]{2,}/.test(left) && !/^⟦[A-Za-z ,.’-]*⟧$/.test(text.trim()) && !element.closest(own)) found.push(text.trim())
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) look(node.data, node.parentElement)
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [alt], optgroup'))
    for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'label'])
      look(element.getAttribute(name) ?? '', element)
  return [...new Set(found)]
})()`

/**
 * Expects that a screen has no text in English, reads from right to left, fits a phone and has no axe violations.
 * @param names texts that stay as they are: names of records and products
 */
export const expectMadeUp = async (page: Page, state: string, names: RegExp): Promise<void> => {
  await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
  const texts = ((await page.evaluate(UNTRANSLATED)) as string[]).filter((text) => !names.test(text))
  const dir = await page.evaluate('document.documentElement.dir')
  expect.soft({ state, dir, texts }).toEqual({ state, dir: 'rtl', texts: [] })
  await expectAccessible(page, `pseudo${state.replaceAll('/', '-')}`, [390])
}
