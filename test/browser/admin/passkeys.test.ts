import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { heading, visit } from '#test/browser/console/harness.ts'
import { addAuthenticator, onLocalhost } from '#test/browser/passkeys.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { adminStage, fillSignIn, newAdmin, openAs, staffCall } from './harness.ts'

const stage = adminStage({ STAFF_SECOND_FACTOR: 'superadmins' })
onLocalhost(stage)

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')

describe('a superadmin', () => {
  it('adds a passkey at the first sign-in, and signs in with it afterwards', async () => {
    const { page, url } = stage
    const authenticator = await addAuthenticator(page)
    const account = await newAdmin(stage, 'superadmin')
    await page.goto(`${url}/staff#/apps`)
    await fillSignIn(page, account.email, account.password)
    await heading(page, 'Add a passkey').waitFor()
    await expectAccessible(page, 'staff-first-passkey')
    await page.reload()
    await heading(page, 'Add a passkey').waitFor()
    await page.getByLabel('Name of the passkey').fill('Laptop')
    await button(page, 'Add passkey').click()
    await heading(page, 'Apps').waitFor()
    expect(await authenticator.credentials()).toHaveLength(1)

    await button(page, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    await fillSignIn(page, account.email, account.password)
    await heading(page, 'Use your passkey').waitFor()
    await expectAccessible(page, 'staff-second-step')
    await button(page, 'Use passkey').click()
    await heading(page, 'Apps').waitFor()
    await visit(page, '/account')
    await page.locator('bdi').getByText('Laptop').waitFor()
    await page.locator('main').getByText('this session').waitFor()
    await expectAccessible(page, 'staff-account-passkeys')
    const { items } = await staffCall(stage, 'GET', `/admin/admins/${account.id}/sessions`)
    expect(items).toHaveLength(1)
  })

  it('confirms again before the kill switch and an export, and can cancel', async () => {
    const { page, platform } = stage
    const authenticator = await addAuthenticator(page)
    const { app } = await listApp(platform, { name: 'Stock counter' })
    const account = await newAdmin(stage, 'superadmin')
    await page.goto(`${stage.url}/staff#/apps/${app.id}`)
    await fillSignIn(page, account.email, account.password)
    await button(page, 'Add passkey').click()
    await heading(page, 'Stock counter').waitFor()
    platform.clock.advance(11 * 60_000)

    await button(page, 'Suspend app').click()
    await dialog(page).getByLabel('Reason').fill('It sends spam.')
    await dialog(page)
      .getByLabel(/to confirm/)
      .fill(app.slug)
    await dialog(page).getByRole('button', { name: 'Suspend now' }).click()
    const confirmation = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await confirmation.waitFor()
    await expectAccessible(page, 'staff-confirmation')
    await page.keyboard.press('Escape')
    await dialog(page).getByRole('alert').filter({ hasText: 'confirmed with your passkey' }).waitFor()
    expect((await staffCall(stage, 'GET', `/admin/apps/${app.id}`)).app.status).toBe('approved')

    await dialog(page).getByRole('button', { name: 'Suspend now' }).click()
    await authenticator.recognizes(false)
    await authenticator.recognizes(true)
    await confirmation.getByRole('button', { name: 'Use passkey' }).click()
    await page.getByText('App suspended.').waitFor()
    expect((await staffCall(stage, 'GET', `/admin/apps/${app.id}`)).app.status).toBe('suspended')

    platform.clock.advance(11 * 60_000)
    await visit(page, '/export')
    const coming = page.waitForEvent('download')
    await button(page, 'Export').click()
    await confirmation.getByRole('button', { name: 'Use passkey' }).click()
    expect((await coming).suggestedFilename()).toMatch(/^apps-/)
  })
})

describe('a moderator', () => {
  it('may have a passkey, removes it, and confirms with the password without one', async () => {
    const { page, platform } = stage
    await addAuthenticator(page)
    const account = await newAdmin(stage, 'moderator')
    await openAs(stage, account, '/account')
    await button(page, 'Add a passkey').click()
    await dialog(page).getByLabel('Name of the passkey').fill('Phone')
    await dialog(page).getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Passkey added.').waitFor()
    const row = page.locator('article').filter({ hasText: 'Phone' })
    await row.getByText('not used yet').waitFor()
    await row.getByRole('button', { name: 'Remove Phone' }).click()
    await dialog(page).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Passkey removed.').waitFor()
    await page.getByText('No passkeys').waitFor()
    platform.clock.advance(11 * 60_000)
    await button(page, 'Add a passkey').click()
    await dialog(page).getByRole('button', { name: 'Continue' }).click()
    const confirmation = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await confirmation.getByLabel('Your password').fill(account.password)
    await expectAccessible(page, 'staff-confirmation-password')
    await confirmation.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('Passkey added.').waitFor()
  })
})

describe('sessions', () => {
  it('are listed, and can be signed out from another one', async () => {
    const { page, platform } = stage
    const account = await newAdmin(stage, 'moderator')
    const { body } = await platform.call('POST', '/admin/auth/login', {
      body: { email: account.email, password: account.password },
      headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
      sourceIp: '203.0.113.9',
    })
    const other = () => platform.call('GET', '/admin/me', { token: body.token })
    expect((await other()).status).toBe(200)
    await openAs(stage, account, '/account')
    const row = page.locator('article').filter({ hasText: 'Firefox on Linux' })
    await row.getByText('203.0.113.9', { exact: true }).waitFor()
    await row.getByRole('button', { name: 'Sign out' }).click()
    await dialog(page).getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Session signed out.').waitFor()
    await expect.poll(() => row.count()).toBe(0)
    expect((await other()).status).toBe(401)
  })
})
