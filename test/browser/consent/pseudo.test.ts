import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { consentPageEndpoints } from '#shared/http/consent-pages.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { translator } from '#shared/kernel/messages.ts'
import { expectMadeUp } from '#test/browser/pseudo.ts'
import { installed } from '#testkit/fixtures.ts'
import { SCRIPTS } from '#web/consent/assets.prebuilt.ts'
import { buildIn, packed } from '#web/consent/build.ts'
import { consentPage } from '#web/consent/page.ts'
import { PSEUDO } from '#web/messages/compile.ts'
import { pseudo } from '#web/messages/pseudo.ts'
import { consentStage } from './harness.ts'
import { serveToBrowser } from './page-server.ts'

const stage = consentStage({}, { locale: PSEUDO, viewport: { width: 390, height: 844 } })

/** Translates texts of the server into the made-up language. Elements in them are values, so they stay. */
const madeUp = (message: string, values: Readonly<Record<string, string | number>> = {}): string => {
  const marks = Object.fromEntries(Object.keys(values).map((name, i) => [name, String.fromCodePoint(0xe000 + i)]))
  const [, ...parts] = pseudo([{ type: 0, value: translator('en')(message, marks) }]) as { value: string }[]
  const text = parts.map(({ value }) => value).join('')
  return Object.values(values).reduce<string>(
    (done, value, i) => done.replaceAll(String.fromCodePoint(0xe000 + i), String(value)),
    text,
  )
}

let server: Awaited<ReturnType<typeof serveToBrowser>>
beforeAll(async () => {
  const scripts: Record<string, unknown> = SCRIPTS
  scripts[PSEUDO] = packed(await buildIn(PSEUDO), '.js')
  const { platform } = stage
  const endpoints = (['oauth', 'connect'] as const).flatMap((group) =>
    consentPageEndpoints({
      group,
      asks: group === 'oauth' ? 'app' : 'host',
      languages: [PSEUDO],
      render: (options) => consentPage({ ...options, t: madeUp }),
    }),
  )
  const pages = createPipeline(endpoints, {}, async () => platform.deps)
  const call: typeof platform.call = async (method, address, options) => {
    if (method !== 'GET' || !/^\/(oauth|connect)\/consent(\?|$)/.test(address))
      return platform.call(method, address, options)
    const path = address.split('?')[0]
    const event = { httpMethod: method, path, headers: options?.headers, body: null, requestContext: {} }
    const { statusCode, headers, body } = await pages(event as unknown as APIGatewayProxyEvent, {} as Context)
    return { status: statusCode, headers: headers as Record<string, string>, body, text: body }
  }
  server = await serveToBrowser({ ...platform, call }, '/stage')
  stage.url = server.url
})
afterAll(() => server.close())

/** Names of products, and the description of an app. */
const NAMES = /Agent Integration Platform|An agent\.|Telegram/g

it('leaves no text of the consent page in English, and fits a phone from right to left', async () => {
  const { page, url, act, platform } = stage
  stage.mayAsk.add(new URL(url).origin)
  const { app } = await installed(platform.deps, { scopes: ['runs:read', 'chat:write', 'tools:invoke'], name: 'Лавка' })
  const tg = await act.link(app)
  await page.goto(`${url}/oauth/consent?tg=${tg}`)
  await page.locator('#sign-in').waitFor()
  expect(await page.evaluate('document.documentElement.lang')).toBe(PSEUDO)
  await expectMadeUp(page, 'consent-sign-in', NAMES)
  await page.locator('#user').fill('Ада')
  await page.locator('#workspace').fill('Дом')
  await page.locator('#sign-in-form button').click()
  await page.getByText('chat:write').first().waitFor()
  await expectMadeUp(page, 'consent-request', NAMES)
  await page.goto(`${url}/oauth/consent?tg=${'x'.repeat(43)}`)
  await page.locator('main section:not([hidden]) h1').first().waitFor()
  await expectMadeUp(page, 'consent-over', NAMES)
})
