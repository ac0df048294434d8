import { expect, it } from 'vitest'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

/** A run that has ended, with a step whose details are closed. */
const finished = async () => {
  const { platform, agent } = stage
  const who = await person(stage)
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  const status = async () => (await platform.call('GET', `/console/runs/${run.id}`, { token: who.token })).body.status
  await expect.poll(status).toBe('running')
  const token = await callbackToken(platform.deps, app, run.id)
  const act = (path: string, body: object) => platform.call('POST', `/api/v1/runs/${run.id}${path}`, { token, body })
  await act('/steps', { type: 'lookup', output: { shelf: 'upper' } })
  await act('/complete', { status: 'succeeded', output: { text: 'Seven boxes.' } })
  return { who, run }
}

it('a run on paper is light, shows its closed details, and nothing that can be pressed', async () => {
  const { page } = stage
  const { who, run } = await finished()
  await page.emulateMedia({ colorScheme: 'dark' })
  await openAs(stage, who, `/runs/${run.id}`)
  await page.getByText('Seven boxes.').waitFor()
  const details = page.locator('.trace').getByText('upper')
  expect(await details.isVisible()).toBe(false)
  await page.evaluate("document.documentElement.dataset.scheme = 'dark'")
  await page.emulateMedia({ media: 'print' })
  await details.waitFor()
  await page.getByRole('main').getByText('Succeeded').first().waitFor()
  expect(await page.getByRole('navigation').isVisible()).toBe(false)
  expect(
    await page.locator('main button').evaluateAll((all) => all.filter((one) => one.checkVisibility()).length),
  ).toBe(0)
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light')
})

it('without colours, the keys of charts and the current page keep their meaning', async () => {
  const { page } = stage
  const { who } = await finished()
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.emulateMedia({ forcedColors: 'active' })
  await openAs(stage, who, '/usage')
  await heading(page, 'Usage and budgets').waitFor()
  const styles = (selector: string, property: string): Promise<string[]> =>
    page.evaluate(
      `[...new Set([...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).${property}))]`,
    )
  await page.locator('.legend .swatch').first().waitFor()
  expect((await styles('.legend .swatch:not(.before)', 'backgroundColor')).length).toBeGreaterThan(1)
  expect(await styles('.shell > nav .nav-link[aria-current]', 'outlineStyle')).toEqual(['solid'])
  await visit(page, '/')
  await page.locator('.bars').first().waitFor()
  const [ground] = await styles('body', 'backgroundColor')
  expect(await styles('.bars > span > span', 'backgroundColor')).not.toContain(ground)
})
