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
import { expectAccessible } from '#test/browser/accessible.ts'
import { serveToBrowser } from '#test/browser/consent/page-server.ts'
import type { Stage } from '#test/browser/console/harness.ts'
import type { BuildOptions } from '#web/built/build.ts'

/** Makes a stage serve a page in the tests' made-up language, which runs from right to left. */
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

/** Elements whose text isn't the page's: names, code, times, what the API says in English, and keys of JSON. */
const OTHERS =
  'bdi, code, pre, kbd, time, script, style, noscript, textarea, [lang="en"], .exact, .person-mark, dl.tree dt'

/**
 * Parts of texts that are the same in all languages: addresses, ids, patterns, codes of languages, time zones and
 * abbreviations. Brackets with only plain letters are choices, such as the verbs of the audit log, which a language makes by
 * their keys.
 */
const SAME =
  /⟦[A-Za-z ,.’-]*⟧|\b(?:GET|POST|MCP|A2A|URL|UTC)\b|https?:\S+|[\w.]+@\w+|\b\w+(?:[._:]\w+)+\b|\b[a-z]+(?:_…|\.\*)|\b[A-Z]\w+(?:\/[\w-]+)+|· [a-z]{2}(?:-[A-Z]{2})?$/g

/** Finds texts with plain Latin letters, which the made-up language has none of. */
const untranslated = async (page: Page, names: RegExp): Promise<string[]> => {
  const texts = (await page.evaluate(`(() => {
    const found = []
    const look = (text, element) => element.closest('${OTHERS}') || found.push(text.trim())
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) look(node.data, node.parentElement)
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [alt], optgroup'))
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'label'])
        look(element.getAttribute(name) ?? '', element)
    return [...new Set(found)]
  })()`)) as string[]
  return texts.filter((text) => /[A-Za-z]{2}/.test(text.replaceAll(names, '').replaceAll(SAME, '')))
}

/**
 * Expects that a screen has no text in English, reads from right to left, fits a phone and has no axe violations.
 * @param names matches, with its flag `g`, what stays as it is: names of records and products
 */
export const expectMadeUp = async (page: Page, state: string, names: RegExp): Promise<void> => {
  await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
  const texts = await untranslated(page, names)
  const dir = await page.evaluate('document.documentElement.dir')
  expect.soft({ state, dir, texts }).toEqual({ state, dir: 'rtl', texts: [] })
  await expectAccessible(page, `pseudo${state.replaceAll('/', '-')}`, [390])
}
