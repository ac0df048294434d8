import { describe, expect, it } from 'vitest'
import { browserStage, expectAccessible, heading, visit } from '#test/browser/console/harness.ts'
import { addAuthenticator, onLocalhost } from '#test/browser/passkeys.ts'
import { confirmEmail, newApp, newDeveloper, newTeammate } from '#testkit/developers.ts'
import { button, dialog, mailed, openAs, openByEmail } from './support.ts'

const stage = browserStage()
onLocalhost(stage)

describe('a teammate', () => {
  it('is invited by e-mail, joins by the link, and is out when they are removed', async () => {
    const { page, url, platform, browser } = stage
    const owner = await newDeveloper(platform)
    await confirmEmail(platform, owner)
    await openAs(stage, owner, '/team')
    await button(page, 'Invite a teammate').click()
    await dialog(page).getByLabel('Email').fill('bo@team.example')
    await dialog(page).getByLabel('Role').selectOption('viewer')
    await dialog(page).getByText('Reads only.').waitFor()
    await expectAccessible(page, 'portal-team-invite')
    await button(page, 'Send the invitation').click()
    await page.getByRole('listitem').filter({ hasText: 'bo@team.example' }).getByText('Invited').waitFor()

    const other = await browser.newContext()
    const bo = await other.newPage()
    await bo.goto(
      await mailed(stage, 'bo@team.example', /\S+#\/join\/\S+/).then(
        (link) => `${url}/developers${link.slice(link.indexOf('#'))}`,
      ),
    )
    await heading(bo, 'Join a team').waitFor()
    expect(bo.url()).not.toContain('join')
    await bo.getByLabel('Your name').fill('Bo Example')
    await expectAccessible(bo, 'portal-join')
    await button(bo, 'Join').click()
    await heading(bo, 'Apps').waitFor()
    await bo.getByText('Viewer: reads only').first().waitFor({ state: 'attached' })
    await visit(bo, '/team')
    await bo.getByText('Bo Example').first().waitFor()
    expect(await button(bo, 'Invite a teammate').count()).toBe(0)

    await page.reload()
    const entry = page.getByRole('listitem').filter({ hasText: 'Bo Example' })
    await entry.getByRole('button', { name: 'Change role' }).click()
    await dialog(page).getByLabel('Role').selectOption('developer')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await entry.getByText('Developer', { exact: true }).waitFor()
    await expectAccessible(page, 'portal-team')
    await entry.getByRole('button', { name: 'Remove' }).click()
    await dialog(page).getByRole('button', { name: 'Remove' }).click()
    await expect.poll(() => entry.count()).toBe(0)
    await visit(bo, '/requests')
    await heading(bo, 'Sign in').waitFor()
    await other.close()
  })

  it('who isn’t an owner gets no key for the command line, and is told whom to ask', async () => {
    const { page, platform, url } = stage
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'developer')
    await openByEmail(stage, bo.email)
    await page.goto(`${url}/developers#/terminal?port=8080&key=${'A'.repeat(87)}&name=laptop`)
    await page.getByText('Owners create keys').waitFor()
  })
})

describe('a passkey', () => {
  it('is added after signing in by e-mail, signs in, and is removed', async () => {
    const { page, platform } = stage
    const { call } = await newDeveloper(platform)
    const { email } = (await call('GET', '/api/v1/dev/me')).body
    const { credentials } = await addAuthenticator(page)
    await openByEmail(stage, email, '/account')
    await button(page, 'Add a passkey').click()
    await page.getByText('Passkey added.').waitFor()
    expect(await credentials()).toHaveLength(1)
    await expectAccessible(page, 'portal-passkeys')
    await button(page, 'Sign out').click()
    await page.getByText('You’re signed out.').waitFor()
    await expectAccessible(page, 'portal-sign-in-passkey')
    await button(page, 'Sign in with a passkey').click()
    await heading(page, 'Account').waitFor()
    await page.getByText('last used', { exact: false }).first().waitFor()
    await page.getByRole('button', { name: 'Remove the passkey' }).click()
    await page.getByText('Passkey removed.').waitFor()
  })

  it('isn’t offered to a session that was opened with a key', async () => {
    const { page, platform } = stage
    await openAs(stage, await newDeveloper(platform), '/account')
    await page.getByText('You signed in with a key.').waitFor()
    expect(await button(page, 'Add a passkey').count()).toBe(0)
  })
})

describe('named keys', () => {
  it('have a scope and an expiry, show their last use, and can be changed', async () => {
    const { page, platform } = stage
    const owner = await newDeveloper(platform)
    await newApp(owner)
    await openAs(stage, owner, '/account')
    await button(page, 'Create a key').click()
    await dialog(page).getByLabel('Name').fill('ci')
    await dialog(page).getByLabel('Scope').selectOption('viewer')
    await dialog(page).getByRole('button', { name: 'Create' }).click()
    const key = await dialog(page).getByLabel('ci').inputValue()
    await button(page, 'Close').click()
    const entry = page.getByRole('listitem').filter({ hasText: 'ci' })
    await entry.getByText('not used yet').waitFor()
    const headers = { 'x-developer-key': key }
    expect((await platform.call('GET', '/api/v1/dev/apps', { headers })).status).toBe(200)
    await entry.getByRole('button', { name: 'Edit' }).click()
    await dialog(page).getByLabel('Name').fill('CI server')
    await dialog(page).getByLabel('Scope').selectOption('developer')
    await expectAccessible(page, 'portal-key')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    const edited = page.getByRole('listitem').filter({ hasText: 'CI server' })
    await edited.getByText('last used', { exact: false }).waitFor()
    expect((await platform.call('GET', '/api/v1/dev/me', { headers })).body.role).toBe('developer')
  })
})
