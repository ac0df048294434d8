import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { browserStage } from '#test/browser/console/harness.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { succeeded } from '#testkit/platform.ts'
import { button, dialog, letSucceed, openAs } from './support.ts'

const stage = browserStage()

const withRuns = async (more: string[] = []) => {
  const { platform, agent } = stage
  const requested_scopes = ['runs:write', 'webhooks:manage', ...more]
  const runtime = { type: 'webhook', endpoint: agent.url }
  const { developer, app } = await listApp(platform, { requested_scopes }, { runtime })
  const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
  const start = async () => {
    const input = { question: 'How many?' }
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: body.access_token, body: { input } })
    await expect
      .poll(
        async () => (await developer.call('GET', `/api/v1/dev/apps/${app.id}/logs?run_id=${run.id}`)).body.items.length,
      )
      .toBe(1)
    return run.id as string
  }
  return { developer, app, start }
}

describe('the list of runs', () => {
  it('is searched by the platform, with filters that stay in the address', async () => {
    const { page, agent } = stage
    const { developer, app, start } = await withRuns()
    letSucceed(stage)
    const good = await start()
    const answer = JSON.stringify({ status: 'failed', error_code: 'no_stock', error_message: 'None left.' })
    agent.answer({ kind: 'answer', headers: { 'content-type': 'application/json' }, body: answer })
    await start()
    await openAs(stage, developer, `/apps/${app.id}/runs`)
    const rows = page.locator('main ul.rows > li')
    await expect.poll(() => rows.count()).toBe(2)
    await expectAccessible(page, 'portal-runs-filters')
    await page.getByLabel('Error code').fill('no_stock')
    await page.getByLabel('Error code').press('Enter')
    await expect.poll(() => rows.count()).toBe(1)
    await rows.getByText('no_stock').waitFor()
    await page.getByLabel('Status').selectOption('succeeded')
    await page.getByText('No finished runs match').waitFor()
    await page.getByLabel('Error code').fill('')
    await page.getByLabel('Error code').press('Enter')
    await expect.poll(() => rows.getByText(good).count()).toBe(1)
    await page.getByLabel('From', { exact: true }).fill('2020-01-01')
    await page.getByLabel('To', { exact: true }).fill('2020-01-02')
    await page.getByText('No finished runs match').waitFor()
    expect(page.url()).toContain('from=2020-01-01')
    await page.reload()
    await page.getByText('No finished runs match').waitFor()
  })
})

describe('a run in the sandbox', () => {
  it('shows the request and the response, explains the signature, and can be run again', async () => {
    const { page, agent } = stage
    const { developer, app, start } = await withRuns()
    letSucceed(stage)
    const id = await start()
    const sent = agent.requests.at(-1)
    await openAs(stage, developer, `/apps/${app.id}/runs/${id}`)
    await page.getByText('HTTP 200').waitFor()
    await page.getByText('x-svc-event').waitFor()
    await page.getByText(String(sent?.headers['x-svc-signature'])).waitFor()
    expect(await page.content()).not.toContain(JSON.parse(String(sent?.body)).callback.token)
    await page.getByText('How the agent checks the signature').click()
    await page.getByText('Compute the HMAC-SHA256').waitFor()
    await expectAccessible(page, 'portal-run-exchange')
    await page.getByRole('link', { name: 'Run again in the sandbox' }).click()
    await expect.poll(() => page.getByLabel('Input').inputValue()).toContain('How many?')
  })
})

describe('a subscription of the sandbox', () => {
  it('takes a filter and a rate, and shows deliveries by status and type', async () => {
    const { page, agent } = stage
    const { developer, app } = await withRuns()
    agent.answer({ kind: 'answer', status: 204 })
    await openAs(stage, developer, `/apps/${app.id}/webhooks`)
    await button(page, 'Subscribe').click()
    await dialog(page).getByLabel('URL').fill(agent.url)
    await dialog(page).getByLabel('Only events with').fill('status')
    await dialog(page).getByText('Each line needs a field').waitFor()
    await dialog(page).getByLabel('Only events with').fill('status = failed, "true"\norder.kind = 1, gift')
    await dialog(page).getByLabel('At most per minute').fill('60')
    await expectAccessible(page, 'portal-webhook-new')
    await dialog(page).getByRole('button', { name: 'Subscribe' }).click()
    await dialog(page).getByLabel('Secret').waitFor()
    await button(page, 'Close').click()
    await page.getByRole('link', { name: agent.url }).click()
    const filter = page.getByLabel('Only events with')
    await expect.poll(() => filter.inputValue()).toBe('order.kind = 1, gift\nstatus = failed, "true"')
    expect(await page.getByLabel('At most per minute').inputValue()).toBe('60')
    await filter.fill('')
    await page.getByLabel('At most per minute').fill('')
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    await button(page, 'Send a test delivery').click()
    await page.getByText('Delivered: the receiver answered 204.').waitFor()
    const { body: token } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const { body } = await stage.platform.call('GET', '/api/v1/webhooks', { token: token.access_token })
    expect(body.items[0]).toMatchObject({ filter: null, max_per_minute: null })
    await developer.call('POST', '/api/v1/dev/sandbox/trigger', { app_id: app.id, type: 'run.succeeded', data: {} })
    await expect
      .poll(async () => {
        await button(page, 'Refresh').click()
        return page.locator('main details.entry').count()
      })
      .toBeGreaterThan(0)
    await page.getByLabel('Status').selectOption('failed')
    await page.getByText('No deliveries match').waitFor()
    await page.getByLabel('Status').selectOption('')
    await page.getByLabel('Everything that failed').selectOption('')
    await page.getByLabel('Since').fill('2026-01-01T00:00')
    await expectAccessible(page, 'portal-webhook-filters')
  })
})

describe('a schedule of the sandbox that events start', () => {
  it('is tried with an event that happened there', async () => {
    const { page, platform } = stage
    const { developer, app } = await withRuns(['runs:read', 'tools:invoke'])
    letSucceed(stage)
    const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const call = (path: string, sent: object) =>
      succeeded(platform.call('POST', `/api/v1/${path}`, { token: body.access_token, body: sent }))
    const when = { event: 'custom.order.*' }
    await call('schedules', { name: 'Orders', start: { input: {} }, when })
    await call('tools/emit_event/invoke', { arguments: { type: 'order.paid', data: { n: 1 } } })
    await openAs(stage, developer, `/apps/${app.id}/test`)
    await page.getByRole('heading', { name: 'Try an event' }).waitFor()
    await expect.poll(() => page.getByLabel('Event', { exact: true }).textContent()).toContain('custom.order.paid')
    await expectAccessible(page, 'portal-try-an-event')
    await button(page, 'Start run').click()
    await page.getByText('custom.order.paid').first().waitFor()
    expect(page.url()).toMatch(/\/runs\/run_/)
  })
})
