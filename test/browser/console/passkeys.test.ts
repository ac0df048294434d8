import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { addAuthenticator, onLocalhost } from '#test/browser/passkeys.ts'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()
onLocalhost(stage)

describe('a passkey', () => {
  it('is added in the settings, and signs in without Telegram', async () => {
    const { page, url } = stage
    const authenticator = await addAuthenticator(page)
    const ann = await person(stage)
    await openAs(stage, ann, '/settings')
    await page.getByText('You have no passkeys yet.').waitFor()
    await page.getByLabel('Name of the passkey').fill('Laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const row = page.getByRole('listitem').filter({ hasText: 'Laptop' })
    await row.waitFor()
    await expectAccessible(page, 'console-passkeys')
    expect(await authenticator.credentials()).toHaveLength(1)

    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await heading(page, 'Sign in').waitFor()
    await expectAccessible(page, 'console-sign-in-passkey')
    await page.goto(`${url}/app#/settings`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await row.getByText('last used').waitFor()
    await page.locator('nav .person').getByText(ann.user.name).waitFor()
  })

  it('can be changed only after signing in again, if the sign-in is old', async () => {
    const { page, platform } = stage
    await addAuthenticator(page)
    await openAs(stage, await person(stage), '/settings')
    await page.getByText('You have no passkeys yet.').waitFor()
    platform.clock.advance(11 * 60_000)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const again = page.getByRole('button', { name: 'Sign in again' })
    await again.waitFor()
    await expectAccessible(page, 'console-passkeys-sign-in-again')
    await again.click()
    await page.getByText('Sign in again to change your passkeys.').waitFor()
  })

  it('that doesn’t belong to this site signs nobody in', async () => {
    const { page, url } = stage
    await addAuthenticator(page)
    await page.goto(`${url}/app`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('alert').filter({ hasText: 'The passkey wasn’t used.' }).waitFor()
    await visit(page, '/settings')
    await heading(page, 'Sign in').waitFor()
  })
})
