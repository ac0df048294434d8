import { expect, it } from 'vitest'
import { consoleStage, expectAccessible, heading, openAs, person } from './harness.ts'

const stage = consoleStage()

it('finds screens and what the workspace has with the keyboard alone, and returns the focus', async () => {
  const { platform, page } = stage
  const who = await person(stage)
  const body = { title: 'Compte les étagères', description: '' }
  const { body: task } = await platform.call('POST', '/console/tasks', { token: who.token, body })
  await openAs(stage, who, '/members')
  await heading(page, 'Members').waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: /^Search/ })
  await field.waitFor()
  expect(await field.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  await page.keyboard.type('etageres compte')
  await page.getByRole('option', { name: /étagères/, selected: true }).waitFor()
  await expectAccessible(page, 'search')
  await page.keyboard.press('Enter')
  await heading(page, 'Compte les étagères').waitFor()
  expect(page.url()).toContain(`#/tasks/${task.id}`)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('file')
  await page.getByRole('option', { name: /Files/, selected: true }).waitFor()
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  const search = page.getByRole('button', { name: /^Search/ }).filter({ visible: true })
  await search.click()
  await field.waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => search.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
})

it('lists the shortcuts, and leaves a dialog that is open alone', async () => {
  const { page } = stage
  await openAs(stage, await person(stage), '/members')
  await heading(page, 'Members').waitFor()
  await page.keyboard.press('Control+/')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.getByText('Search and go anywhere').waitFor()
  await expectAccessible(page, 'shortcuts')
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Invite someone' }).click()
  const invite = page.getByRole('dialog', { name: 'Invite someone' })
  await invite.waitFor()
  await page.keyboard.press('Control+k')
  expect(await page.getByRole('dialog').count()).toBe(1)
})
