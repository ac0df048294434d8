import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { browserStage, openAs, person } from '#test/browser/console/harness.ts'

const stage = browserStage()

it('colours and density are a person’s choice, which another page of the browser follows and a reload shows from its first paint', async () => {
  const { page, url } = stage
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.setViewportSize({ width: 1_280, height: 800 })
  await openAs(stage, await person(stage))
  const other = await page.context().newPage()
  await other.goto(`${url}/developers`)
  const shown = (of = page) => of.evaluate('({ ...document.documentElement.dataset })')
  expect(await shown()).toEqual({})
  await page.getByRole('button', { name: 'Appearance' }).click()
  const notices = await page.getByRole('link', { name: 'Third-party licences' }).getAttribute('href')
  expect((await fetch(new URL(notices ?? '', url))).status).toBe(200)
  await page.getByLabel('Dark').check({ force: true })
  await page.getByLabel('Compact').check({ force: true })
  expect(await shown()).toEqual({ scheme: 'dark', density: 'compact' })
  await expect.poll(() => shown(other)).toEqual({ scheme: 'dark', density: 'compact' })
  await expectAccessible(page, 'appearance')
  // Without the page's own modules, the first paint has the colours already.
  await page.route('**/*.js', (route) => (route.request().url().includes('head-') ? route.continue() : route.abort()))
  await page.reload()
  expect(await shown()).toEqual({ scheme: 'dark', density: 'compact' })
  await page.unroute('**/*.js')
  await page.reload()
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.getByRole('button', { name: 'Appearance' }).click()
  await page.getByLabel('Like the system').check({ force: true })
  await page.getByLabel('Comfortable').check({ force: true })
  expect(await shown()).toEqual({})
})
