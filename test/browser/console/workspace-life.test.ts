import { describe, expect, it } from 'vitest'
import { createWorkerWork } from '#shared/http/worker.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { installed } from '#testkit/fixtures.ts'
import { succeeds } from '#testkit/receiver.ts'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

describe('usage and budgets', () => {
  it('are read as charts and tables, and a budget is added by keyboard alone and stops the next run', async () => {
    const { page, platform, agent } = stage
    const who = await person(stage)
    const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
    agent.answer(succeeds({ cost_units: 1.5, usage: { input_tokens: 900, output_tokens: 100 } }))
    const { startRun } = await import('#shared/work/runs/start.ts')
    const start = () =>
      startRun(createWorkerWork(platform.deps), {
        installation: app.installation,
        input: {},
        trigger: 'manual',
        actor: { id: who.user.id, name: who.user.name },
      })
    await openAs(stage, who, '/usage')
    await heading(page, 'Usage and budgets').waitFor()
    await page.getByRole('button', { name: 'Add a budget' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Runs').waitFor()
    await expectAccessible(page, 'budget-form')
    await dialog.getByLabel('For', { exact: true }).press('Tab')
    await dialog.getByLabel('Per', { exact: true }).press('ArrowDown')
    await dialog.getByLabel('Runs').press('2')
    await dialog.getByLabel('Tokens', { exact: true }).fill('10000')
    await dialog.getByLabel('Runs').press('Enter')
    await page.getByRole('heading', { name: 'Workspace, monthly' }).waitFor()
    await start()
    await start()
    await expect(start()).rejects.toMatchObject({ code: 'budget_exceeded' })
    const figures = async () => (await platform.call('GET', '/console/analytics', { token: who.token })).body.succeeded
    await expect.poll(figures).toBe(2)
    await visit(page, '/')
    await visit(page, '/usage')
    await page.getByText('2 of 2 runs').waitFor()
    await page.getByText('2,000 of 10,000 tokens').waitFor()
    await page.getByRole('row', { name: new RegExp(`${who.user.name} 2 0 2,000 3`) }).waitFor()
    await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
    await expectAccessible(page, 'usage')
    await page.getByRole('button', { name: 'Change Workspace, monthly' }).click()
    await dialog.getByLabel('Runs').fill('5')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('2 of 5 runs').waitFor()
    await start()
  })
})

describe('the first steps', () => {
  it('lead an admin from an agent to a colleague, and disappear when they are done', async () => {
    const { page, platform, agent } = stage
    const who = await person(stage)
    await openAs(stage, who)
    const steps = page.getByRole('region', { name: 'Get started' })
    await steps.getByText('0 of 4 steps done').waitFor()
    await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
    await expectAccessible(page, 'first-run')
    const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
    await platform.call('POST', '/console/invitations', { token: who.token, body: {} })
    await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await expect
      .poll(async () => (await platform.call('GET', '/console/analytics', { token: who.token })).body.runs)
      .toBe(1)
    await page.reload()
    await heading(page, 'Home').waitFor()
    await expect.poll(() => steps.count()).toBe(0)
  })

  it('aren’t shown again once hidden', async () => {
    const { page } = stage
    const who = await person(stage)
    await openAs(stage, who)
    await page.getByRole('link', { name: 'Open the marketplace' }).waitFor()
    await page.getByRole('button', { name: 'Hide the steps' }).press('Enter')
    await page.reload()
    await heading(page, 'Home').waitFor()
    await page.getByText('You’re all caught up').waitFor()
    expect(await page.getByRole('region', { name: 'Get started' }).count()).toBe(0)
  })
})

describe('connected apps', () => {
  it('show admins the webhooks of apps with their deliveries, and are paused and resumed by keyboard', async () => {
    const { page, platform, agent } = stage
    const who = await person(stage)
    const app = await installed(platform.deps, { workspaceId: who.workspace.id })
    const hook = {
      url: `${agent.url}/hooks?secret=1`,
      events: ['custom.*', 'run.*'],
      description: 'Orders to the shop',
    }
    const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', { token: app.token, body: hook })
    const emitting = { arguments: { type: 'custom.order.paid', data: {} } }
    await platform.call('POST', '/api/v1/tools/emit_event/invoke', { token: app.token, body: emitting })
    await openAs(stage, who, '/access')
    const card = page.getByRole('article', { name: new RegExp(`^${app.app.name} to `) })
    await card.getByText('Orders to the shop').waitFor()
    await expect
      .poll(async () => {
        const path = `/api/v1/webhooks/${webhook.id}/deliveries`
        return (await platform.call('GET', path, { token: app.token })).body.items[0]?.status
      })
      .toBe('succeeded')
    await card.getByText('Deliveries').press('Enter')
    await card.getByText('custom.order.paid').waitFor()
    await expectAccessible(page, 'connected-apps')
    await card.getByRole('button', { name: /^Pause/ }).press('Enter')
    await card.getByText('The app can’t enable it again.').waitFor()
    const access = page.getByRole('article', { name: app.app.name, exact: true })
    await access.getByRole('button', { name: 'Pause access' }).press('Enter')
    await access.getByText('Its requests are refused').waitFor()
    await access.locator('[aria-busy="false"]', { hasText: 'Resume access' }).waitFor()
    await expectAccessible(page, 'connected-apps-paused')
    expect((await platform.call('GET', '/api/v1/me', { token: app.token })).body.error.code).toBe(
      'installation_suspended',
    )
    await access.getByRole('button', { name: 'Resume access' }).press('Enter')
    await access.getByRole('button', { name: 'Pause access' }).waitFor()
    await card.getByRole('button', { name: /^Resume/ }).press('Enter')
    await card.getByText('Active').waitFor()
    expect((await platform.call('GET', '/api/v1/me', { token: app.token })).status).toBe(200)
  })

  it('show members the access of apps, and nothing that they can’t change', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    const app = await installed(platform.deps, { workspaceId: who.workspace.id })
    await openAs(stage, await person(stage, who.workspace.name, 'member'), '/access')
    await page.getByRole('article', { name: app.app.name, exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /Pause/ }).count()).toBe(0)
    expect(await page.getByRole('heading', { name: 'Webhooks' }).count()).toBe(0)
  })
})

describe('the own devices', () => {
  it('are listed under Settings next to the passkeys, and signed out one by one or all together', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    const again = () =>
      platform.call('POST', '/console/session', {
        body: { user: who.user.name, workspace: who.workspace.name },
        headers: { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1' },
      })
    const tokens = [await again(), await again(), await again()].map(({ body }) => body.token as string)
    const states = () =>
      Promise.all(tokens.map(async (token) => (await platform.call('GET', '/console/me', { token })).status))
    await openAs(stage, who, '/settings')
    const devices = page.getByRole('region', { name: 'Devices' })
    await devices.getByText('This device').waitFor()
    await page.getByRole('region', { name: 'Passkeys' }).waitFor()
    await expect.poll(() => devices.getByText('Safari on iPhone', { exact: true }).count()).toBeGreaterThanOrEqual(3)
    await expectAccessible(page, 'devices')
    await devices.getByRole('button', { name: 'Sign out Safari on iPhone' }).first().press('Enter')
    await page.getByText('Signed out there.').waitFor()
    expect((await states()).filter((status) => status === 401)).toHaveLength(1)
    // The next row takes the focus, and not its button, which a held key would press.
    await expect
      .poll(() => page.evaluate("document.activeElement.matches('li') && document.activeElement.textContent"))
      .toContain('Sign out')
    await devices.getByRole('button', { name: 'Sign out everywhere else' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).press('Enter')
    await page.getByText('Signed out everywhere else.').waitFor()
    expect(await states()).toEqual([401, 401, 401])
    await expect.poll(() => devices.getByRole('listitem').count()).toBe(1)
  })

  it('show who was active recently, and distinguish invitations from members', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    await platform.call('POST', '/console/invitations', { token: who.token, body: {} })
    await person(stage, who.workspace.name, 'member')
    await openAs(stage, who, '/members')
    await page
      .getByText(/^Active/)
      .first()
      .waitFor()
    await page
      .getByRole('region', { name: 'Pending invitations' })
      .getByText(/Invited$/)
      .waitFor()
    await expectAccessible(page, 'members')
  })
})

describe('the marketplace', () => {
  it('has a shelf of featured agents, a page for each publisher, and says what an update asks for', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    const admin = { 'x-admin-key': 'local-admin-key' }
    const first = await listApp(platform, { name: 'Stock helper', summary: 'Knows the stock.' })
    await listApp(platform, { name: 'Price helper', summary: 'Knows the prices.' })
    await platform.call('POST', `/admin/apps/${first.app.id}/curation`, { headers: admin, body: { featured: true } })
    await openAs(stage, who, '/marketplace')
    const shelf = page.getByRole('region', { name: 'Featured' })
    await shelf.getByText('Stock helper').waitFor()
    expect(await shelf.getByText('Price helper').count()).toBe(0)
    await page.getByRole('region', { name: 'Newest' }).getByText('Price helper').waitFor()
    await expectAccessible(page, 'marketplace-shelves')
    await shelf.getByRole('link', { name: /Stock helper/ }).press('Enter')
    await heading(page, 'Stock helper').waitFor()
    await page.getByRole('link', { name: 'Ada Example' }).press('Enter')
    await heading(page, 'Ada Example').waitFor()
    await page.getByRole('link', { name: /Stock helper/ }).waitFor()
    await expectAccessible(page, 'publisher')
    const body = { slug: first.app.slug, scopes: [] }
    const { body: made } = await platform.call('POST', '/console/installations', { token: who.token, body })
    await first.release('2.0.0')
    await visit(page, `/agents/${made.id}`)
    await page.getByText('It asks for more than this workspace granted.').waitFor()
    await page.getByText('New:').first().waitFor()
    await expectAccessible(page, 'permissions-of-update')
  })
})

describe('the sample agent', () => {
  it('is installed from the first steps in one click, and answers', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    await openAs(stage, who)
    await page.getByRole('button', { name: 'Install the sample agent' }).press('Enter')
    await page.getByText('The sample agent was installed.').waitFor()
    await page.getByText('2 of 4 steps done').waitFor()
    const { items } = (await platform.call('GET', '/console/installations', { token: who.token })).body
    const asked = { token: who.token, body: { installation_id: items[0].id } }
    const { body: chat } = await platform.call('POST', '/console/conversations', asked)
    await visit(page, `/chat/${chat.id}`)
    await page.getByRole('textbox', { name: /^Message to/ }).fill('Tell me about this workspace')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('region').getByText(`This workspace is called “${who.workspace.name}”.`).waitFor()
  })

  it('comes with a demo in the local run', async () => {
    const { page } = stage
    const who = await person(stage)
    await openAs(stage, who)
    await page.getByRole('button', { name: 'Fill with a demo' }).press('Enter')
    await page.getByText('The workspace has sample tasks').waitFor()
    await visit(page, '/tasks')
    await page.getByText('Answer the new enquiries').waitFor()
  })
})
