import { expect, it } from 'vitest'
import { installed } from '#testkit/fixtures.ts'
import { consoleStage, expectAccessible, heading, openAs, person } from './harness.ts'

const stage = consoleStage()

const workspaceWithRuns = async () => {
  const { platform, agent } = stage
  const who = await person(stage)
  const one = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const other = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const start = async ({ token }: { token: string }, body: object): Promise<string> => {
    const answer = await platform.call('POST', '/api/v1/runs', { token, body })
    return answer.body.id
  }
  return { who, one, other, start }
}

it('searches runs, keeps the filters in the address and over the way back, and saves them as a view', async () => {
  const { page } = stage
  const { who, one, other, start } = await workspaceWithRuns()
  const mugs = await start(one, { input: { question: 'How many red mugs?' }, trigger: 'nightly' })
  await start(other, { input: { question: 'How many boats?' }, trigger: 'manual' })
  await openAs(stage, who, '/runs')
  await heading(page, 'Runs').waitFor()
  const rows = page.locator('main ul.rows > li')
  await expect.poll(() => rows.count()).toBe(2)
  await page.getByRole('searchbox', { name: 'Search' }).fill('red mugs')
  await page.keyboard.press('Enter')
  await expect.poll(() => rows.count()).toBe(1)
  expect(page.url()).toContain('q=red+mugs')

  await rows.getByRole('link').click()
  await heading(page, /^Run of/).waitFor()
  expect(page.url()).toContain(mugs)
  await page.goBack()
  await expect.poll(() => page.url()).toContain('q=red+mugs')
  await expect.poll(() => rows.count()).toBe(1)

  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Mugs')
  await page.keyboard.press('Enter')
  const view = page.getByRole('navigation', { name: 'Saved views' })
  await view.getByRole('link', { name: 'Mugs' }).waitFor()
  await view.getByRole('link', { name: 'All' }).click()
  await expect.poll(() => rows.count()).toBe(2)
  await page.reload()
  await view.getByRole('link', { name: 'Mugs' }).click()
  await expect.poll(() => rows.count()).toBe(1)
  await expectAccessible(page, 'runs-view')
  await page.setViewportSize({ width: 1_280, height: 800 })

  await view.getByRole('link', { name: 'All' }).click()
  await page.getByText('More filters').click()
  await page.getByLabel('Trigger').selectOption('manual')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByText('No runs match these filters').waitFor()
  await expectAccessible(page, 'runs-filtered')
})

it('groups runs by agent', async () => {
  const { page } = stage
  const { who, one, other, start } = await workspaceWithRuns()
  await start(one, {})
  await start(other, {})
  await openAs(stage, who, '/runs')
  await page.getByLabel('Group by agent').check()
  for (const { app } of [one, other]) {
    const group = page.getByRole('region', { name: app.name })
    await expect.poll(() => group.getByRole('listitem').count()).toBe(1)
  }
  expect(page.url()).toContain('group=agent')
  await expectAccessible(page, 'runs-grouped')
})
