import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { consoleStage, heading, openAs, person } from './harness.ts'

const stage = consoleStage()

/** A red pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=='

const OUTPUT = {
  text: '# Stock\n\nWe have **12** mugs, see [the list](https://shop.example/list).\n\n- red\n- blue\n\n```js\ncount()\n```\n\n<img src=x onerror=alert(1)>',
  mugs: [
    { colour: 'red', count: 5 },
    { colour: 'blue', count: 7 },
  ],
  image: { mimeType: 'image/png', data: PIXEL },
  exact: { total: 12 },
}

it('shows a run as a timeline with its decisions, the runs that it caused, and what it was given and answered', async () => {
  const { page, platform, agent } = stage
  const who = await person(stage)
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const other = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { body: run } = await platform.call('POST', '/api/v1/runs', {
    token: app.token,
    body: { input: { question: 'How many?' } },
  })
  const read = async () => (await platform.call('GET', `/console/runs/${run.id}`, { token: who.token })).body
  await expect.poll(async () => (await read()).status).toBe('running')
  const token = await callbackToken(platform.deps, app, run.id)
  const invoke = (tool: string, args: object) =>
    platform.call('POST', `/api/v1/tools/${tool}/invoke`, { token, body: { arguments: args } })
  await openAs(stage, who, `/runs/${run.id}`)
  await page.getByText('No steps yet').waitFor()
  await platform.call('POST', `/api/v1/runs/${run.id}/steps`, {
    token,
    body: { output: { text: 'I look it **up**', usage: { input_tokens: 1_200, output_tokens: 80 } } },
  })
  const timeline = page.locator('main ol.trace').first()
  await timeline.getByText('1,200 tokens in, 80 out').waitFor()
  await timeline.locator('strong', { hasText: 'up' }).waitFor()
  await invoke('delegate_task', { agent: other.app.slug, title: 'Count the mugs', start_now: true })
  await timeline.getByRole('link', { name: other.app.name }).waitFor()
  const { body: asked } = await invoke('http_fetch', { url: `${agent.url}/mugs` })
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText(`Approved by ${who.user.name}`).waitFor()
  expect(asked.status).toBe('awaiting_approval')
  await expect
    .poll(
      async () =>
        (
          await platform.call('POST', `/api/v1/runs/${run.id}/complete`, {
            token,
            body: { status: 'succeeded', output: OUTPUT, cost_units: 3 },
          })
        ).status,
    )
    .toBe(200)
  const result = page.locator('main section.section', { has: page.getByRole('heading', { name: 'Result' }) })
  await result.getByRole('listitem').filter({ hasText: 'red' }).waitFor()
  await result.getByRole('columnheader', { name: 'colour' }).waitFor()
  expect(
    await result
      .locator('img[src^="data:image/png"]')
      .evaluate((image) => (image as { naturalWidth?: number }).naturalWidth),
  ).toBe(1)
  expect(await result.locator('img[src="x"]').count()).toBe(0)
  await result.getByText('<img src=x onerror=alert(1)>').waitFor()
  expect(await result.getByRole('link').getAttribute('href')).toBe('https://shop.example/list')
  await expectAccessible(page, 'run-trace')
})

it('keeps a comment on an approval while the stream repeats the states before it', async () => {
  const { page, platform, agent } = stage
  const who = await person(stage)
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  const read = async () => (await platform.call('GET', `/console/runs/${run.id}`, { token: who.token })).body
  await expect.poll(async () => (await read()).status).toBe('running')
  await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: await callbackToken(platform.deps, app, run.id),
    body: { arguments: { url: `${agent.url}/mugs` } },
  })
  let repeat = () => {}
  const typed = new Promise<void>((resolve) => {
    repeat = resolve
  })
  await page.route('**/stream', async (route) => {
    await typed
    const body = `id: 2\nevent: state\ndata: {"run_id":"${run.id}","status":"running"}\n\n`
    await route.fulfill({ contentType: 'text/event-stream', body })
  })
  await openAs(stage, who, `/runs/${run.id}`)
  await page.getByLabel('Comment').fill('Only once')
  repeat()
  await page.locator('main .state', { hasText: 'Running' }).first().waitFor()
  expect(await page.getByLabel('Comment').inputValue()).toBe('Only once')
  await page.unroute('**/stream')
})

it('runs again with the same input, and with another one, by keyboard alone', async () => {
  const { page, platform, agent } = stage
  const who = await person(stage)
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { body: run } = await platform.call('POST', '/api/v1/runs', {
    token: app.token,
    body: { input: { question: 'How many?' } },
  })
  await openAs(stage, who, `/runs/${run.id}`)
  await heading(page, /^Run of/).waitFor()
  await page.getByRole('button', { name: 'Run again' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('an earlier run').waitFor()
  expect(page.url()).not.toContain(run.id)
  await page.getByText(`by ${who.user.name}`).waitFor()
  await page.getByRole('button', { name: 'Edit and run' }).focus()
  await page.keyboard.press('Enter')
  const field = page.getByRole('textbox', { name: 'Input' })
  await field.fill('{"question": ')
  await page.getByText('This isn’t a JSON object.').waitFor()
  expect(await page.getByRole('button', { name: 'Start run' }).isDisabled()).toBe(true)
  await expectAccessible(page, 'run-edit')
  await field.fill('{"question": "How few?"}')
  const before = page.url()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).not.toBe(before)
  await page.getByText('Input', { exact: true }).click()
  await page.getByText('How few?').waitFor()
})
