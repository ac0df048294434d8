import { describe, expect, it } from 'vitest'
import { createWorkerWork } from '#shared/http/worker.ts'
import { installed } from '#testkit/fixtures.ts'
import { consoleStage, expectAccessible, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

describe('usage and budgets', () => {
  it('are read as charts and tables, and a budget is added by keyboard alone and stops the next run', async () => {
    const { page, platform, agent } = stage
    const who = await person(stage)
    const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
    agent.answer({
      kind: 'answer',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        status: 'succeeded',
        output: {},
        cost_units: 1.5,
        usage: { input_tokens: 900, output_tokens: 100 },
      }),
    })
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
  it('lead an admin from an agent to a colleague, and are gone once they are done', async () => {
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
