import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { browserStage, heading, openAs, person } from '#test/browser/console/harness.ts'

const stage = browserStage()

it.each(['comfortable', 'compact'])(
  'every component is accessible in all its states, in both themes: %s',
  async (density) => {
    const { page } = stage
    await page.addInitScript(`localStorage.setItem('appearance', '{"density":"${density}"}')`)
    await openAs(stage, await person(stage), '/gallery')
    await heading(page, 'Components').waitFor()
    await expectAccessible(page, `gallery-${density}`)
    await page.setViewportSize({ width: 1_280, height: 800 })
    await page.getByRole('button', { name: 'Open a dialog' }).click()
    await page.getByRole('dialog').waitFor()
    await expectAccessible(page, `gallery-dialog-${density}`)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Show a message' }).click()
    await page.getByText('Saved.').waitFor()
    await expectAccessible(page, `gallery-message-${density}`)
  },
)

it('a chart names the values of a day by the arrow keys', async () => {
  const { page } = stage
  await openAs(stage, await person(stage), '/gallery')
  const plot = page.getByRole('group', { name: /^Runs: / })
  await plot.focus()
  const values = page.getByRole('figure', { name: /^Runs/ }).getByRole('status')
  await page.keyboard.press('ArrowLeft')
  expect(await values.textContent()).toBe('Nov 23 Succeeded 15 · Failed 1 · before 12')
  await page.keyboard.press('Home')
  expect(await values.textContent()).toContain('Nov 10')
  await page.keyboard.press('Escape')
  expect(await values.textContent()).toBe('')
})
