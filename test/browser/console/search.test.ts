import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { consoleStage, heading, openAs, person } from './harness.ts'

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

it('reads the audit log as sentences, narrows it to a kind and a day in the address, and saves what matches', async () => {
  const { platform, page } = stage
  const who = await person(stage)
  const body = { role: 'member', expires_in: 3_600 }
  await platform.call('POST', '/console/invitations', { token: who.token, body })
  await openAs(stage, who, '/audit')
  await page.getByText('invited someone as member').waitFor()
  await page.getByLabel('What').selectOption('invitation')
  await page.getByLabel('Who').selectOption({ label: who.user.name })
  await expect.poll(() => page.url()).toMatch(/kind=invitation/)
  await expect.poll(() => page.locator('details.entry').count()).toBe(1)
  await page.locator('details.entry summary').click()
  await page.getByRole('link', { name: 'View what this is about' }).waitFor()
  await expectAccessible(page, 'audit-filtered')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('audit-log.csv')
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByText('No matching entries').waitFor()
})
