import { expect, it } from 'vitest'
import { pageEndpoints } from '#functions/pages/developers.ts'
import { browserStage, visit } from '#test/browser/console/harness.ts'
import { expectMadeUp, inMadeUpLanguage } from '#test/browser/pseudo.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { buildDevelopers } from '#web/developers/build.ts'
import { PSEUDO } from '#web/messages/compile.ts'
import { letSucceed } from './support.ts'

const stage = browserStage({}, { locale: PSEUDO, viewport: { width: 390, height: 844 } })
inMadeUpLanguage(stage, /^\/developers(\/|$|\?)/, buildDevelopers, pageEndpoints)

/** Creates an app with a finished run, a subscription and a review, whose names have no Latin letters. */
const livelyAccount = async () => {
  const { platform, agent } = stage
  letSucceed(stage)
  const { developer, app } = await listApp(
    platform,
    { name: 'Лавка', summary: 'Заказы', description: 'Заказы', requested_scopes: ['runs:write', 'webhooks:manage'] },
    { runtime: { type: 'webhook', endpoint: agent.url } },
  )
  const { body: sandbox } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
  const { body: run } = await platform.call('POST', '/api/v1/runs', {
    token: sandbox.access_token,
    body: { input: { 1: 'вопрос' } },
  })
  const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', {
    token: sandbox.access_token,
    body: { url: agent.url, events: ['run.succeeded'] },
  })
  return { developer, app, run: run.id as string, webhook: webhook.id as string }
}

/** Names of records and products. */
const NAMES = /Agent Integration Platform|Ada Example|Telegram|vendor[\w-]*|ada-example[\w-]*/g

it('leaves no text of any screen in English, and fits a phone from right to left', async () => {
  const { page, url, platform } = stage
  stage.mayAsk.add(new URL(url).origin)
  await page.goto(`${url}/developers`)
  await page.locator('h1').waitFor()
  expect(await page.evaluate('document.documentElement.lang')).toBe(PSEUDO)
  await expectMadeUp(page, 'portal-sign-in', NAMES)
  const { developer, app, run, webhook } = await livelyAccount()
  const { body: session } = await platform.call('POST', '/api/v1/dev/session', { body: { api_key: developer.key } })
  const kept = JSON.stringify({ token: session.session_key, until: Date.now() + 3_600_000 })
  await page.evaluate(`sessionStorage.setItem('developer-session', ${JSON.stringify(kept)})`)
  const places = [
    '/',
    '/new',
    `/apps/${app.id}`,
    `/apps/${app.id}/versions`,
    `/apps/${app.id}/test`,
    `/apps/${app.id}/runs`,
    `/apps/${app.id}/runs/${run}`,
    `/apps/${app.id}/webhooks`,
    `/apps/${app.id}/webhooks/${webhook}`,
    `/apps/${app.id}/figures`,
    `/apps/${app.id}/reviews`,
    `/apps/${app.id}/settings`,
    '/requests',
    '/sandbox',
    '/team',
    '/account',
    '/more',
    '/nowhere',
  ]
  await page.reload()
  for (const place of sampleOf(places, 2)) {
    await visit(page, place)
    await page.locator('main h1').waitFor()
    await expectMadeUp(page, `portal${place.replace(app.id, 'app')}`, NAMES)
  }
})
