import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { consoleStage, heading, openAs, person } from './harness.ts'

const stage = consoleStage()

const busyWorkspace = async () => {
  const { platform, agent } = stage
  const who = await person(stage)
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const ask = async (args: object, reason?: string) => {
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    const read = async () => (await platform.call('GET', `/console/runs/${run.id}`, { token: who.token })).body
    await expect.poll(async () => (await read()).status).toBe('running')
    await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token: await callbackToken(platform.deps, app, run.id),
      body: { arguments: { url: `${agent.url}/pay`, ...args }, ...(reason && { reason }) },
    })
    return { read }
  }
  const task = async (title: string) => {
    const { body } = await platform.call('POST', '/console/tasks', {
      token: who.token,
      body: { title, installation_id: app.installation.id },
    })
    await platform.call('POST', `/api/v1/tasks/${body.id}/report`, { token: app.token, body: { text: 'Done.' } })
    return body
  }
  return { who, ask, task }
}

it('approves identical calls together, and decides on several things at once', async () => {
  const { page, platform } = stage
  const { who, ask, task } = await busyWorkspace()
  const twins = [await ask({ method: 'POST', body: 'one' }), await ask({ method: 'POST', body: 'one' })]
  const other = await ask({ method: 'DELETE' })
  const { id } = await task('Count the mugs')
  await openAs(stage, who)
  const rows = page.locator('main ul.inbox > li')
  await expect.poll(() => rows.count()).toBe(3)
  expect(await page.getByText('this call runs once').count()).toBe(0)
  await rows.first().getByText('2 identical calls wait').waitFor()
  await rows.first().getByRole('button', { name: /^Open/ }).click()
  await page.getByText('this call runs once').first().waitFor()
  await expectAccessible(page, 'inbox')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.getByRole('button', { name: 'Approve all 2 identical calls' }).first().click()
  await page.getByText('Approved 2 of 2 calls.').waitFor()
  for (const { read } of twins) expect((await read()).status).toBe('running')
  await expect.poll(() => rows.count()).toBe(2)
  for (const box of await page.getByRole('checkbox', { name: /^Select/ }).all()) await box.check()
  await page.getByText('2 selected').waitFor()
  await expectAccessible(page, 'inbox-selected')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.getByRole('button', { name: 'Reject 1 call', exact: true }).click()
  await page.getByText('Rejected 1 of 1 calls.').waitFor()
  expect((await other.read()).status).toBe('running')
  await expect.poll(() => rows.count()).toBe(1)
  await rows.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Mark 1 task as done' }).click()
  await page.getByText('You’re all caught up').waitFor()
  const { body } = await platform.call('GET', `/console/tasks/${id}`, { token: who.token })
  expect(body.status).toBe('done')
})

it('tells calls apart by path and reason, shows only the person’s own, and announces what arrives once', async () => {
  const { page } = stage
  const { who, ask, task } = await busyWorkspace()
  await ask({ method: 'POST', url: `${stage.agent.url}/invoices/7` }, 'Pay **now**')
  await openAs(stage, who)
  const rows = page.locator('main ul.inbox > li')
  await rows.locator('strong', { hasText: '/invoices/7' }).waitFor()
  await rows.getByText('Pay now', { exact: true }).waitFor()
  const { title } = await task('Count the mugs')
  await expect.poll(() => rows.count()).toBe(2)
  await page.getByRole('status').getByText(`Task to review: ${title}`).waitFor({ state: 'attached' })
  expect(await page.locator('main [aria-live]').count()).toBe(0)
  await page.getByText('Yours', { exact: true }).click()
  await expect.poll(() => rows.count()).toBe(1)
  await rows.locator('strong', { hasText: 'Count the mugs' }).waitFor()
  await expectAccessible(page, 'inbox-own')
})

it('names amounts, groups by agent and day, and takes the focus from any screen with one shortcut', async () => {
  const { page } = stage
  const { who, ask, task } = await busyWorkspace()
  const body = JSON.stringify({ amount: 1240, currency: 'EUR' })
  await ask({ method: 'POST', headers: { 'content-type': 'application/json' }, body })
  await task('Count the mugs')
  await openAs(stage, who, '/members')
  await heading(page, 'Members').waitFor()
  await page.keyboard.press('Control+.')
  const rows = page.locator('main ul.inbox > li')
  await expect.poll(() => rows.count()).toBe(2)
  await expect.poll(() => rows.first().evaluate((row) => row.matches(':focus'))).toBe(true)
  await rows.first().getByText('amount 1,240 EUR').waitFor()
  await page.keyboard.press('j')
  await expect.poll(() => rows.last().evaluate((row) => row.matches(':focus'))).toBe(true)
  await page.getByLabel('Group by').selectOption('day')
  await page.locator('main h3').getByText('Today').waitFor()
  await page.getByLabel('Group by').selectOption('agent')
  await expect.poll(() => page.locator('main h3').count()).toBe(1)
  await expectAccessible(page, 'inbox-grouped')
  await page.reload()
  await expect.poll(() => page.locator('main h3').count()).toBe(1)
})

it('shows at once which button was pressed, until the answer is there', async () => {
  const { page } = stage
  const { who, ask } = await busyWorkspace()
  await ask({ method: 'POST' })
  await openAs(stage, who)
  await page.getByRole('button', { name: /^Open/ }).click()
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const busy = async () =>
    Promise.all([button('Approve'), button('Reject')].map((one) => one.getAttribute('aria-busy')))
  let answer = (): void => {}
  const pressed = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/decision', async (route) => {
    await pressed
    await route.continue()
  })
  await button('Reject').click()
  await expect.poll(busy).toEqual([null, 'true'])
  answer()
  await page.getByText('You’re all caught up').waitFor()
})

it('snoozes, wakes and opens with the keyboard alone', async () => {
  const { page } = stage
  const { who, ask, task } = await busyWorkspace()
  await task('Water the plants')
  await ask({ method: 'POST' })
  await openAs(stage, who)
  await heading(page, 'Home').waitFor()
  const rows = page.locator('main ul.inbox > li')
  await expect.poll(() => rows.count()).toBe(2)
  await rows.first().focus()
  await page.keyboard.press('a')
  await page.locator('button[data-decision="approve"]:enabled').waitFor()
  await page.keyboard.press('a')
  const focused = () => page.evaluate('document.activeElement.textContent')
  await expect.poll(focused).toBe('Approve')
  await page.keyboard.press('j')
  await page.keyboard.press('o')
  await rows.last().getByRole('link', { name: 'Read the report' }).waitFor()
  await page.keyboard.press('s')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('button', { name: 'Show 1 snoozed' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => rows.count()).toBe(2)
  await expectAccessible(page, 'inbox-snoozed')
  await page.getByRole('button', { name: /^Wake up/ }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Back in your inbox.').waitFor()
  await expect.poll(() => rows.count()).toBe(2)
})
