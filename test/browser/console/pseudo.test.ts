import { expect, it } from 'vitest'
import { pageEndpoints } from '#functions/pages/app.ts'
import { expectMadeUp, inMadeUpLanguage } from '#test/browser/pseudo.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { buildConsole } from '#web/console/build.ts'
import { PSEUDO } from '#web/messages/compile.ts'
import { consoleStage, openAs, type Person, person, visit } from './harness.ts'

const stage = consoleStage({}, { locale: PSEUDO, viewport: { width: 390, height: 844 } })
inMadeUpLanguage(stage, /^\/app(\/|$|\?)/, buildConsole, pageEndpoints)

/** Creates records of most kinds, whose names have no Latin letters. */
const livelyWorkspace = async (): Promise<{ who: Person; ids: Record<string, string> }> => {
  const { platform, agent } = stage
  const who = await person(stage)
  const call = (method: string, path: string, body?: unknown) =>
    succeeded(platform.call(method, path, { token: who.token, body }))
  await call('PATCH', '/console/me', { locale: PSEUDO, name: 'Ада', time_zone: 'Europe/Berlin' })
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { app: shown } = await listApp(platform, { name: 'Лавка', summary: 'Заказы' })
  const { body: started } = await platform.call('POST', '/api/v1/runs', {
    token: app.token,
    body: { input: { 1: 'вопрос' } },
  })
  await expect.poll(async () => (await call('GET', `/console/runs/${started.id}`)).status).toBe('running')
  const callback = await callbackToken(platform.deps, app, started.id)
  await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: callback,
    body: { arguments: { url: 'https://example.com/' }, run_id: started.id },
  })
  const task = await call('POST', '/console/tasks', { title: 'Бумага', installation_id: app.installation.id })
  await platform.call('POST', `/api/v1/tasks/${task.id}/question`, { token: app.token, body: { text: 'Какая?' } })
  const chat = await call('POST', '/console/conversations', { installation_id: app.installation.id })
  await call('POST', `/console/conversations/${chat.id}/messages`, { text: 'Привет' })
  await call('POST', '/console/files', { name: '1.txt', content_type: 'text/plain', content: '1' })
  await call('POST', '/console/agent-requests', { title: 'Поливать растения', description: 'Да, каждый день' })
  await call('POST', '/console/invitations', {})
  await call('PUT', `/console/apps/${app.app.id}/review`, { rating: 4, text: 'Хорошо' })
  return {
    who,
    ids: { run: started.id, task: task.id, installation: app.installation.id, chat: chat.id, slug: shown.slug },
  }
}

/** Names of records and products, and the text of a notification, which the server writes. */
const NAMES =
  /It wants to use http_fetch\.[\s\S]*|Agent Integration Platform|Orchestrator|Telegram|(?:Agent|Visitor|Person|Home) \d+|\bTXT\b|vendor[\w-]*/g

it('leaves no text of any screen in English, and fits a phone from right to left', async () => {
  const { platform, page, url } = stage
  const { who, ids } = await livelyWorkspace()
  stage.mayAsk.add(new URL(url).origin)
  await openAs(stage, who)
  await page.locator('main h1').waitFor()
  expect(await page.evaluate('document.documentElement.lang')).toBe(PSEUDO)
  const places = [
    '/',
    '/runs',
    `/runs/${ids.run}`,
    '/tasks',
    `/tasks/${ids.task}`,
    '/agents',
    `/agents/${ids.installation}`,
    '/messenger',
    '/notifications',
    '/access',
    '/assistants',
    '/approvals',
    '/usage',
    '/wishlist',
    '/members',
    '/audit',
    '/more',
    '/nowhere',
    '/chat',
    `/chat/${ids.chat}`,
    '/marketplace',
    `/marketplace/${ids.slug}`,
    '/files',
    '/settings',
  ]
  for (const place of sampleOf(places, 2)) {
    // Nobody reads a screen in less time. Without it, the visits exceed the rate limit on a fast machine.
    platform.clock.advance(2_000)
    await visit(page, place)
    await page.locator('main h1').waitFor()
    await expectMadeUp(page, place, NAMES)
  }
})
