import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { browserStage, heading, visit } from '#test/browser/console/harness.ts'
import { addAuthenticator, onLocalhost } from '#test/browser/passkeys.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { confirmEmail, newApp, newDeveloper, newTeammate } from '#testkit/developers.ts'
import { button, dialog, letSucceed, mailed, openAs, openByEmail } from './support.ts'

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

  it('who isn’t an owner gets no key for the command line, but learns whom to ask', async () => {
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

  it('that is lost doesn’t lock anybody out: the page offers a link by email, which lets them add another', async () => {
    const { page, platform } = stage
    const { call } = await newDeveloper(platform)
    const { email } = (await call('GET', '/api/v1/dev/me')).body
    const { credentials, forget } = await addAuthenticator(page)
    await openByEmail(stage, email, '/account')
    await button(page, 'Add a passkey').click()
    await page.getByText('Passkey added.').waitFor()
    await button(page, 'Sign out').click()
    await page.getByText('Lost your passkey or your key? The link signs you in without them.').waitFor()
    await forget()
    await button(page, 'Sign in with a passkey').click()
    await page.getByText('Lost it? Get a link by email above').waitFor()
    await expectAccessible(page, 'portal-sign-in-lost')
    await openByEmail(stage, email, '/account')
    await button(page, 'Add a passkey').click()
    await expect.poll(() => credentials().then((all) => all.length)).toBe(1)
    await page.getByRole('button', { name: 'Remove the passkey' }).nth(1).waitFor()
  })

  it('isn’t offered to a session that was opened with a key', async () => {
    const { page, platform } = stage
    await openAs(stage, await newDeveloper(platform), '/account')
    await page.getByText('You signed in with a key.').waitFor()
    expect(await button(page, 'Add a passkey').count()).toBe(0)
  })
})

describe('sessions of the portal', () => {
  it('are listed with who and by what, and an owner ends one, or all others', async () => {
    const { page, platform } = stage
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'viewer')
    const cy = await newTeammate(platform, owner, 'viewer')
    await openAs(stage, owner, '/account')
    const list = page.locator('section', { hasText: 'Sign-ins to this portal' })
    await list.getByText('This session').waitFor()
    await list.getByText('with an invitation').first().waitFor()
    await expectAccessible(page, 'portal-sessions')
    const name = (await bo.call('GET', '/api/v1/dev/me')).body.member.name
    await page.getByRole('button', { name: `End the session of ${name}` }).click()
    await page.getByText('The session has ended.').waitFor()
    expect((await bo.call('GET', '/api/v1/dev/me')).status).toBe(401)
    await button(page, 'End all other sessions').click()
    await dialog(page).getByRole('button', { name: 'End', exact: true }).click()
    await page.getByText('All other sessions have ended.').waitFor()
    expect((await cy.call('GET', '/api/v1/dev/me')).status).toBe(401)
    await list.getByText('This session').waitFor()
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

describe('a viewer', () => {
  it('reads every page, is offered nothing that the API refuses, and is told whom to ask', async () => {
    const { page, platform, agent } = stage
    letSucceed(stage)
    const runtime = { type: 'webhook', endpoint: agent.url }
    const requested_scopes = ['runs:read', 'runs:write', 'webhooks:manage']
    const { developer, app } = await listApp(platform, { name: 'Shelf counter', requested_scopes }, { runtime })
    const { body: draft } = await developer.call('POST', '/api/v1/dev/apps', {
      slug: 'shelf-draft',
      type: 'agent',
      name: 'Shelf draft',
      requested_scopes,
    })
    const { body: sandbox } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const token = sandbox.access_token
    const hook = { url: agent.url, events: ['*'] }
    const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', { token, body: hook })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
    const bo = await newTeammate(platform, developer, 'viewer')

    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`)
    })
    await openByEmail(stage, bo.email)
    const own = `/apps/${app.id}`
    /** Places with their titles. */
    const places = {
      '/': 'Apps',
      '/new': 'Create an app',
      [own]: 'Shelf counter: Overview',
      [`${own}/versions`]: 'Shelf counter: Versions',
      [`${own}/test`]: 'Shelf counter: Test',
      [`${own}/runs`]: 'Shelf counter: Runs',
      [`${own}/runs/${run.id}`]: 'Shelf counter: Run',
      [`${own}/webhooks`]: 'Shelf counter: Webhooks',
      [`${own}/webhooks/${webhook.id}`]: 'Shelf counter: Webhook',
      [`${own}/settings`]: 'Shelf counter: Settings',
      [`/apps/${draft.id}`]: 'Shelf draft: Overview',
      '/sandbox': 'Sandbox',
      '/requests': 'Agents that customers ask for',
      '/team': 'Team',
      '/account': 'Account',
    }
    const offered = new Set<string>()
    const explained: string[] = []
    for (const [to, title] of Object.entries(places)) {
      await visit(page, to)
      await expect.poll(() => page.title()).toBe(`${title} · Developers`)
      await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
      const buttons = page.locator('main button:enabled, main a.button')
      for (const text of await buttons.allInnerTexts()) offered.add(text.trim().split('\n')[0] ?? '')
      if (await page.getByText('Ask an owner of the account for the role Developer.').count()) explained.push(to)
    }
    expect(refused).toEqual([])
    expect([...offered].sort()).toEqual(['Add a passkey', 'End', 'End all other sessions', 'Leave'])
    const tabs = ['', '/versions', '/test', '/webhooks', `/webhooks/${webhook.id}`, '/settings'].map((to) => own + to)
    expect(explained.sort()).toEqual(['/new', ...tabs, `/apps/${draft.id}`, '/sandbox'].sort())
    await visit(page, `/apps/${app.id}/settings`)
    await expectAccessible(page, 'portal-viewer-settings')
    await visit(page, `/apps/${app.id}/versions`)
    await expectAccessible(page, 'portal-viewer-versions')
  })
})
