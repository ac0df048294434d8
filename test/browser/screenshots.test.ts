import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { browserStage, openAs, person, visit } from '#test/browser/console/harness.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { pngOf } from '#testkit/images.ts'
import { openAs as openStaff, SUPERADMIN } from './admin/harness.ts'
import { button, dialog, openAs as openPortal } from './developers/support.ts'

const stage = browserStage()

/** Width of a loaded image in pixels; 0 before. */
const widthOf = (one: unknown): number => (one as { naturalWidth: number }).naturalWidth

const image = (name: string, color: [number, number, number]) => ({
  name,
  mimeType: 'image/png',
  buffer: pngOf(640, color),
})

it('screenshots are added and put into order in the portal, compared in review, and leafed through in the marketplace', async () => {
  const { page, platform } = stage
  const { developer, app } = await listApp(platform, { name: 'Shelf planner', summary: 'Plans shelves.' })
  await openPortal(stage, developer, `/apps/${app.id}/settings`)
  const chooser = page.waitForEvent('filechooser')
  await button(page, 'Add images').press('Enter')
  await (await chooser).setFiles([
    image('a.png', [80, 90, 200]),
    image('b.png', [200, 120, 60]),
    image('c.png', [0, 0, 0]),
  ])
  const captions = page.getByLabel('Caption')
  await expect.poll(() => captions.count()).toBe(3)
  for (const [i, words] of ['All shelves', 'One shelf', 'Nothing'].entries()) await captions.nth(i).fill(words)
  await button(page, 'Move up').nth(1).press('Enter')
  // The moved image's field gets the focus in the next frame.
  await expect.poll(() => captions.nth(0).evaluate((field) => field.matches(':focus'))).toBe(true)
  await button(page, 'Remove').nth(2).press('Enter')
  await expect.poll(() => captions.count()).toBe(2)
  expect([await captions.nth(0).inputValue(), await captions.nth(1).inputValue()]).toEqual(['One shelf', 'All shelves'])
  await expectAccessible(page, 'portal-screenshots')
  await button(page, 'Save screenshots').press('Enter')
  await page.getByText('Saved. Moderators review the changes.').waitFor()

  const who = await person(stage)
  await openAs(stage, who, `/marketplace/${app.slug}`)
  await page.getByRole('heading', { name: 'Shelf planner' }).waitFor()
  expect(await page.getByRole('img', { name: 'One shelf' }).count()).toBe(0)

  await openStaff(stage, SUPERADMIN, `/apps/${app.id}`)
  await page.getByText('Changes that wait for review').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'Images' })
  await row.getByText('One shelf').waitFor()
  await expect.poll(() => row.locator('img').first().evaluate(widthOf)).toBe(640)
  await expectAccessible(page, 'staff-screenshots')
  await button(page, 'Approve changes').click()
  await dialog(page).getByRole('button', { name: 'Approve changes' }).click()
  await page.getByText('Changes approved.').waitFor()

  await openAs(stage, who, `/marketplace/${app.slug}`)
  await page.setViewportSize({ width: 390, height: 844 })
  await visit(page, `/marketplace/${app.slug}`)
  const first = page.getByRole('button', { name: 'Enlarge: One shelf' })
  await first.waitFor()
  await expectAccessible(page, 'marketplace-screenshots')
  await first.press('Enter')
  const large = dialog(page).getByRole('img')
  await expect.poll(() => large.getAttribute('alt')).toBe('One shelf')
  await expect.poll(() => large.evaluate(widthOf)).toBe(640)
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => large.getAttribute('alt')).toBe('All shelves')
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => large.getAttribute('alt')).toBe('One shelf')
  await expectAccessible(page, 'marketplace-screenshot-large')
  await page.keyboard.press('Escape')
  await expect.poll(() => dialog(page).count()).toBe(0)
  await page.locator('.screenshots button:focus').getByRole('img', { name: 'One shelf' }).waitFor()
})
