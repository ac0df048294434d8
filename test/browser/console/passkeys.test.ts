import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { addAuthenticator, onLocalhost } from '#test/browser/passkeys.ts'
import { callAs, consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()
onLocalhost(stage)

/** Adds a passkey in the settings. @returns the person, and the passkeys that the device holds */
const withPasskey = async () => {
  const { page } = stage
  const { credentials } = await addAuthenticator(page)
  const ann = await person(stage)
  await openAs(stage, ann, '/settings')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  return { ann, credentials }
}

describe('a passkey that the account doesn’t have', () => {
  it('because it was removed isn’t offered by the browser again', async () => {
    const { page } = stage
    const { credentials } = await withPasskey()
    await page.getByText('Passkey added.').waitFor()
    await page.getByRole('button', { name: /^Remove/ }).click()
    await page.getByText('Passkey removed.').waitFor()
    expect(await credentials()).toEqual([])
  })

  it('because it was removed elsewhere is forgotten once it was refused', async () => {
    const { page } = stage
    const { ann, credentials } = await withPasskey()
    await page.getByText('Passkey added.').waitFor()
    const call = callAs(stage)
    const { items } = await call(ann, 'GET', '/console/passkeys')
    await call(ann, 'DELETE', `/console/passkeys/${items[0].id}`)
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await page.getByText('You’re signed out.').waitFor()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('alert').filter({ hasText: 'doesn’t belong to an account here' }).waitFor()
    expect(await credentials()).toEqual([])
  })

  it('because the platform refused it after the device had made it is forgotten', async () => {
    const { page, platform } = stage
    await page.route('**/console/passkeys', (route) => {
      if (route.request().method() === 'POST') platform.clock.advance(6 * 60_000)
      return route.continue()
    })
    const { credentials } = await withPasskey()
    await page.getByRole('alert').filter({ hasText: 'expired' }).waitFor()
    expect(await credentials()).toEqual([])
  })
})

describe('a passkey', () => {
  it('stays on the device if only the answer to adding it was lost', async () => {
    const { page } = stage
    await page.route('**/console/passkeys', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      return route.abort()
    })
    const { credentials } = await withPasskey()
    await page.getByRole('alert').waitFor()
    expect(await credentials()).toHaveLength(1)
  })

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
