import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pageEndpoints } from '#functions/pages/app.ts'
import { openBuiltFiles } from '#shared/http/built-files.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { serveToBrowser } from '#test/browser/consent/page-server.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { buildConsole } from '#web/console/build.ts'
import { PSEUDO } from '#web/messages/compile.ts'
import { consoleStage, openAs, type Person, person, visit } from './harness.ts'

const stage = consoleStage({}, { locale: PSEUDO, viewport: { width: 390, height: 844 } })

let folder: string
let server: Awaited<ReturnType<typeof serveToBrowser>>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pseudo-'))
  await buildConsole(folder, { pseudo: true })
  const { platform } = stage
  const pages = createPipeline(pageEndpoints(openBuiltFiles([folder])), {}, async () => platform.deps)
  const call: typeof platform.call = async (method, path, options) => {
    if (!/^\/app(\/|$|\?)/.test(path)) return platform.call(method, path, options)
    const event = { httpMethod: method, path, headers: options?.headers, body: null, requestContext: {} }
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

/** Creates records of most kinds, whose names have no Latin letters. */
const livelyWorkspace = async (): Promise<{ who: Person; ids: Record<string, string> }> => {
  const { platform, agent } = stage
  const who = await person(stage)
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await platform.call(method, path, { token: who.token, ...(body !== undefined && { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
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

/** Finds texts with plain Latin letters, which the made-up language has none of. Names and code aren't translated. */
const UNTRANSLATED = `(() => {
  const own = 'bdi, code, pre, kbd, time, script, style, [data-untranslated], .exact'
  const found = []
  const look = (text, element) => {
    const left = text.replaceAll(/https?:\\S+|[\\w.]+@\\w+|\\b\\w+_\\w+\\b|\\b\\w+\\.\\w+\\b/g, '')
    if (/[A-Za-z]{2,}/.test(left) && !element.closest(own)) found.push(text.trim())
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) look(node.data, node.parentElement)
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [alt], optgroup'))
    for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'label'])
      look(element.getAttribute(name) ?? '', element)
  return [...new Set(found)]
})()`

/** Names of records, products and languages, and what the platform's API describes in English. */
const NAMES = /^(Agent \d+|Visitor \d+|Home \d+|Agent Integration Platform|vendor\b.*|\d+(\.\d+)*|Telegram)$/

it('leaves no text of any screen in English, and fits a phone from right to left', async () => {
  const { page } = stage
  const { who, ids } = await livelyWorkspace()
  stage.mayAsk.add(new URL(server.url).origin)
  await openAs(stage, who)
  await page.locator('main h1').waitFor()
  expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([PSEUDO, 'rtl'])
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
  for (const place of places) {
    await visit(page, place)
    await page.locator('main h1').waitFor()
    await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
    const texts = ((await page.evaluate(UNTRANSLATED)) as string[]).filter((text) => !NAMES.test(text))
    const overflow = await page.evaluate(
      'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
    )
    if (process.env.SCREENSHOTS) {
      const name = `pseudo${place.replaceAll('/', '-')}`
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true })
    }
    expect.soft({ place, texts, overflow }).toEqual({ place, texts: [], overflow: 0 })
  }
})
