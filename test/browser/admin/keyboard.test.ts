import { beforeEach, expect, it } from 'vitest'
import { heading } from '#test/browser/console/harness.ts'
import {
  expectFocus,
  expectReturned,
  expectVisibleFocus,
  followLink,
  pressButton,
  tabTo,
  typeInto,
} from '#test/browser/keyboard.ts'
import { submitApp } from '#test/functions/admin/moderation-support.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { manifestFor } from '#testkit/developers.ts'
import { adminStage, SUPERADMIN, staffCall } from './harness.ts'

const stage = adminStage()
// Refills the bucket of the admin’s key, with which tests prepare what they need.
beforeEach(() => stage.platform.clock.advance(5_000))

/** Opens a screen, and signs in. */
const openByKeys = async (place: string) => {
  const { page, url } = stage
  await page.goto(`${url}/staff#${place}`)
  await heading(page, 'Sign in').waitFor()
  await typeInto(page, 'Email', SUPERADMIN.email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(SUPERADMIN.password)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Staff' }).waitFor()
}

it('takes an app from the queue, tries to reject it and approves it', async () => {
  const { page, platform } = stage
  const { app } = await submitApp(platform, { name: 'Keyboard teller' })
  await openByKeys('/review')
  await heading(page, 'Review').waitFor()
  await page.getByRole('link', { name: 'Keyboard teller' }).waitFor()
  await page.keyboard.press('Tab')
  await expectFocus(page, 'button', 'Skip to content')
  await page.keyboard.press('Enter')
  await tabTo(page, 'link', 'Keyboard teller')
  await expectVisibleFocus(page)
  await page.keyboard.press('c')
  await expectFocus(page, 'button', 'Claim Keyboard teller')
  await expectVisibleFocus(page)
  await page.keyboard.press('Enter')
  await expectFocus(page, 'button', 'Release Keyboard teller')
  await page.keyboard.press('Shift+Tab')
  await expectFocus(page, 'link', 'Keyboard teller')
  await page.keyboard.press('Enter')
  await expectFocus(page, 'heading', 'Keyboard teller')
  await page.getByText('Signature refusal').waitFor()
  await pressButton(page, 'Reject')
  await tabTo(page, 'textbox', 'Reason')
  await expectVisibleFocus(page)
  await page.keyboard.press('Escape')
  await expectReturned(page, 'button', 'Reject')
  await page.keyboard.press('a')
  await expectFocus(page, 'button', 'Approve')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await pressButton(page, 'Approve')
  await page.getByText('App approved.').waitFor()
  await expectReturned(page, 'heading', 'Keyboard teller')
  expect((await staffCall(stage, 'GET', `/admin/apps/${app.id}`)).app.status).toBe('approved')
})

it('reads what a new version changes, approves it, and suspends the app with a reason', async () => {
  const { page, platform } = stage
  const { app, developer } = await listApp(platform, { name: 'Keyboard ledger' })
  const manifest = manifestFor(developer, app, { version: '1.1.0', summary: 'Keeps the ledger.' })
  const published = await developer.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifest)
  expect(published.status).toBe(201)
  await openByKeys('/apps')
  await heading(page, 'Apps').waitFor()
  await followLink(page, /^Keyboard ledger/)
  await expectFocus(page, 'heading', 'Keyboard ledger')
  await tabTo(page, 'region', 'Changes from 1.0.0 to 1.1.0')
  await expectVisibleFocus(page)
  const checks = Promise.withResolvers<void>()
  await page.route(/\/checks\?fresh=false$/, async (route) => {
    await checks.promise
    await route.continue()
  })
  await pressButton(page, 'Approve version')
  await page.getByRole('dialog').waitFor()
  await pressButton(page, 'Approve version')
  await page.getByText('Version approved.').waitFor()
  // Its buttons are gone, and its row is still there.
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toMatch(/^1\.1\.0 ✓ Approved/)
  // Nothing below its checks moves while those of the promoted version are on their way.
  await page.getByText('Similar name').first().waitFor()
  checks.resolve()
  await pressButton(page, 'Suspend app')
  await typeInto(page, 'Reason', 'It sends what it reads to strangers.')
  await typeInto(page, /to confirm$/, app.slug)
  await pressButton(page, 'Suspend now')
  await page.getByText('App suspended.').waitFor()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  await pressButton(page, 'Lift suspension')
  expect((await staffCall(stage, 'GET', `/admin/apps/${app.id}`)).app.status).toBe('suspended')
})
