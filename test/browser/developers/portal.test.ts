import { afterEach, describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { browserStage, expectScreens, heading, visit } from '#test/browser/console/harness.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { newApp, newDeveloper, publish } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { signInByBrowser } from '../../../cli/sign-in/by-browser.ts'
import { button, dialog, letSucceed, mailed, openAs } from './support.ts'

const stage = browserStage()

describe('the quickstart', () => {
  it('leads from no account to a promoted, test-run version in the browser alone', async () => {
    const { page, url, agent } = stage
    letSucceed(stage)
    await page.goto(`${url}/developers`)
    await heading(page, 'Sign in').waitFor()
    await expectAccessible(page, 'portal-sign-in')
    await button(page, 'Create an account').click()
    await page.getByLabel('Name').fill('Ada Quickstart')
    await page.getByLabel('Email').fill('ada@quickstart.example')
    await button(page, 'Create account').click()
    await heading(page, 'Your developer key').waitFor()
    expect(await page.getByLabel('Developer key').inputValue()).toMatch(/^dvk_/)
    await button(page, 'Continue').click()
    await heading(page, 'Apps').waitFor()
    await page.getByRole('link', { name: 'Create an app' }).click()
    await page.getByLabel('Name').fill('Stock helper')
    await page.getByLabel('Summary').fill('Answers questions about the stock of a shop.')
    await expectAccessible(page, 'portal-new-app')
    await button(page, 'Create the app').click()
    await heading(page, 'Store the app’s secrets').waitFor()
    expect(await page.getByLabel('Client secret').inputValue()).not.toBe('')
    await page.getByRole('link', { name: 'I’ve stored them' }).click()
    const editor = page.getByLabel('Manifest')
    await page.getByText('The manifest is valid.').waitFor()
    const manifest = await editor.inputValue()
    expect(JSON.parse(manifest)).toMatchObject({ id: 'ada-quickstart.stock-helper', version: '1.0.0' })

    // The validator's message stands at its line, and suggestions come from the schema.
    await editor.fill(manifest.replace('"1.0.0"', '"one"'))
    await button(page, 'Line 3').waitFor()
    expect(await button(page, 'Publish').isDisabled()).toBe(true)
    await editor.fill('{\n  "run')
    await page.getByRole('option', { name: 'runtime' }).waitFor()
    await expectAccessible(page, 'portal-editor')
    await editor.focus()
    await editor.press('Enter')
    await expect.poll(() => editor.inputValue()).toContain('"runtime": {}')
    const before = (area: { value: string; selectionStart: number }) => area.value.slice(0, area.selectionStart)
    expect(await editor.evaluate(before as never)).toMatch(/"runtime": \{$/)

    await editor.fill(manifest.replace('https://agent.example.com/run', agent.url))
    await page.getByText('The manifest is valid.').waitFor()
    await button(page, 'Publish').click()
    await button(page, 'Promote 1.0.0').waitFor()
    await page.getByRole('link', { name: 'Test it' }).click()
    await button(page, 'Run').click()
    await page.getByRole('list', { name: 'Timeline' }).getByText('Succeeded').waitFor()
    await page.getByText('"Four."').waitFor()
    expect(agent.requests.length).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Versions' }).click()
    await button(page, 'Promote 1.0.0').click()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    const checks = page.getByRole('listitem')
    await checks.filter({ hasText: 'A successful test run (done)' }).waitFor()
    await checks.filter({ hasText: 'A logo (missing)' }).waitFor()
  })
})

describe('the next step of an app', () => {
  it('is the same on every tab, none of which greets a new app with an error, and moves on to the review', async () => {
    const { page, platform, agent } = stage
    letSucceed(stage)
    const developer = await newDeveloper(platform)
    const app = await newApp(developer, { name: 'Shelf finder' })
    await openAs(stage, developer, `/apps/${app.id}`)
    const next = page.getByRole('region', { name: 'Next step' })
    for (const tab of ['Overview', 'Versions', 'Test', 'Runs', 'Webhooks', 'Figures', 'Reviews', 'Settings']) {
      await page.getByRole('navigation', { name: 'App' }).getByRole('link', { name: tab, exact: true }).click()
      await next.getByText('Publish a manifest.').waitFor()
      await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
      expect(await page.getByRole('alert').count(), tab).toBe(0)
    }
    await expectAccessible(page, 'portal-next-step')
    const reload = (place: string) => page.goto(`${stage.url}/developers#${place}`).then(() => page.reload())
    await publish(developer, app, { runtime: { type: 'webhook', endpoint: agent.url } })
    await reload(`/apps/${app.id}/runs`)
    await next.getByRole('link', { name: 'Run a test' }).click()
    await button(page, 'Run').click()
    await next.getByText('Promote a version.').waitFor()
    await next.getByRole('link', { name: 'Choose a version' }).click()
    await button(page, 'Promote 1.0.0').click()
    await next.getByText('submit it for review').waitFor()
    expect(await next.getByRole('listitem').filter({ hasText: '(done)' }).count()).toBe(4)
    await next.getByRole('link', { name: 'See what’s missing' }).click()
    await page.getByRole('heading', { name: 'Get listed in the marketplace' }).waitFor()
  })
})

describe('the editor of a manifest', () => {
  it('starts with the developer’s vendor, and says at its line why publishing refused what the check can’t know', async () => {
    const { page, platform, agent } = stage
    const developer = await newDeveloper(platform)
    const app = await newApp(developer, { summary: 'Answers questions about stock.' })
    await openAs(stage, developer, `/apps/${app.id}/versions`)
    const editor = page.getByLabel('Manifest')
    await page.getByText('The manifest is valid.').waitFor()
    const manifest = JSON.parse(await editor.inputValue())
    expect(manifest.id).toBe(`ada-example.${app.slug}`)

    await editor.fill(JSON.stringify({ ...manifest, id: `your-vendor.${app.slug}` }, null, 2))
    await page.locator('.findings').getByText('is a placeholder').waitFor()
    expect(await button(page, 'Publish').isDisabled()).toBe(true)

    agent.answer({ kind: 'answer', status: 404 })
    const runtime = { type: 'a2a', card_url: `${agent.url}/card.json` }
    await editor.fill(JSON.stringify({ ...manifest, runtime }, null, 2))
    await page.getByText('The manifest is valid.').waitFor()
    await button(page, 'Publish').click()
    await page.getByRole('alert').getByText('/runtime/card_url').waitFor()
    await button(page, 'Line 8').waitFor()
    expect(await page.getByText('The manifest is valid.').count()).toBe(0)
    await expectAccessible(page, 'portal-refused')
    await editor.fill(JSON.stringify(manifest, null, 2))
    await page.getByText('The manifest is valid.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})

describe('signing in', () => {
  it('works with a link by e-mail once, which a first time ends keys that somebody else may have made', async () => {
    const { page, url, platform } = stage
    const developer = await newDeveloper(platform)
    const { email } = (await developer.call('GET', '/api/v1/dev/me')).body
    await page.goto(`${url}/developers`)
    await page.getByLabel('Email').fill(email)
    await button(page, 'Email me a link').click()
    await page.getByText('a link is on its way').waitFor()
    const link = await mailed(stage, email, /\S+#\/sign-in\/\S+/)
    const code = link.split('/').at(-1) ?? ''
    await page.goto(`${url}/developers#/sign-in/${code}`)
    await page.reload()
    await heading(page, 'Apps').waitFor()
    expect(page.url()).not.toContain(code)
    expect((await developer.call('GET', '/api/v1/dev/me')).status).toBe(401)
    await visit(page, '/account')
    await page.getByText('Confirmed', { exact: false }).first().waitFor()
    await button(page, 'Sign out').click()
    await page.getByText('You’re signed out.').waitFor()
    await page.goto(`${url}/developers#/sign-in/${code}`)
    await page.reload()
    await page.getByText('was used').waitFor()
  })

  it('keeps no key in the browser, and signing out ends the session', async () => {
    const { page, platform } = stage
    const developer = await newDeveloper(platform)
    await openAs(stage, developer)
    const stored = (await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')) as string
    expect(stored).not.toContain(developer.key)
    const { token } = (await page.evaluate("JSON.parse(sessionStorage.getItem('developer-session'))")) as {
      token: string
    }
    await button(page, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    const headers = { 'x-developer-key': token }
    await expect.poll(async () => (await platform.call('GET', '/api/v1/dev/me', { headers })).status).toBe(401)
  })
})

describe('signing in the command line', () => {
  const begin = () => signInByBrowser(stage.url, 'ada@laptop', 60_000)
  // The browser is meant to visit the tool, which listens on this machine.
  afterEach(() => {
    expect(stage.problems.splice(0).map((problem) => problem.replace(/:\d+\/signed-in\?.*/s, ''))).toEqual([
      'asked http://127.0.0.1',
    ])
  })

  it('hands it a key of its own, which is in no address, and which the account lists', async () => {
    const { page, platform } = stage
    const developer = await newDeveloper(platform)
    await openAs(stage, developer)
    const signIn = await begin()
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(request.url()))
    await page.goto(signIn.address)
    await page.getByText(signIn.code).waitFor()
    await page.getByText('ada@laptop').waitFor()
    await expectAccessible(page, 'portal-terminal')
    await button(page, 'Allow').click()
    const granted = await signIn.granted
    await page.getByText('The command line is signed in').waitFor()
    const headers = { 'x-developer-key': granted?.api_key ?? '' }
    const { status, body } = await platform.call('GET', '/api/v1/dev/me', { headers })
    expect([status, body.email]).toEqual([200, granted?.email])
    expect(addresses.some((address) => address.includes('/signed-in?sealed='))).toBe(true)
    expect(addresses.join()).not.toContain(granted?.api_key)
    await visit(page, '/account')
    await page.getByText('aip on ada@laptop').first().waitFor()
  })

  it('gives nothing when the developer doesn’t allow it, or when the link is incomplete', async () => {
    const { page, url, platform } = stage
    await openAs(stage, await newDeveloper(platform))
    const signIn = await begin()
    await page.goto(signIn.address)
    await button(page, 'Don’t allow').click()
    expect(await signIn.granted).toBeUndefined()
    await page.getByText('The command line got no key.').waitFor()
    await page.goto(`${url}/developers#/terminal?port=80&key=x`)
    await page.getByText('This link is incomplete').waitFor()
  })
})

describe('a run in the sandbox that asks for approval', () => {
  it('continues when its developer decides as a customer in the console, with one press', async () => {
    const { page, platform, agent } = stage
    const requested_scopes = ['runs:read', 'runs:write', 'tools:invoke']
    const runtime = { type: 'webhook', endpoint: agent.url }
    const { developer, app } = await listApp(platform, { requested_scopes }, { runtime })
    const sandbox = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const token = sandbox.body.access_token
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token, body: { input: { text: 'Order.' } } })
    const asked = { arguments: { url: 'https://example.com/' }, run_id: run.id }
    await expect
      .poll(async () => (await platform.call('GET', `/api/v1/runs/${run.id}`, { token })).body.status)
      .toBe('running')
    const call = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: asked })
    expect(call.body.status).toBe('awaiting_approval')
    await openAs(stage, developer, `/apps/${app.id}/runs/${run.id}`)
    const [console] = await Promise.all([
      page.context().waitForEvent('page'),
      button(page, 'Decide as a customer').click(),
    ])
    await console.getByRole('heading', { name: /^[A-Z]+ to / }).waitFor()
    await console.getByText('Sample customer').first().waitFor()
    await console.getByRole('button', { name: 'Reject', exact: true }).click()
    await console.getByText('Rejected.', { exact: false }).first().waitFor()
    // The portal keeps no console session, and the console got it in no address.
    expect(await page.evaluate("sessionStorage.getItem('console-session')")).toBeNull()
    expect(console.url()).toMatch(/\/app#\/runs\/run_\w+$/)
  })
})

describe('webhooks of the sandbox', () => {
  it('can be subscribed, tested, sent again and paused', async () => {
    const { page, platform, agent } = stage
    agent.answer({ kind: 'answer', status: 500, body: 'Out of order' })
    const { developer, app } = await listApp(platform, { requested_scopes: ['runs:read', 'webhooks:manage'] })
    await openAs(stage, developer, `/apps/${app.id}/webhooks`)
    await button(page, 'Subscribe').click()
    await dialog(page).getByLabel('URL').fill(agent.url)
    await dialog(page).getByRole('button', { name: 'Subscribe' }).click()
    expect(await dialog(page).getByLabel('Secret').inputValue()).toMatch(/^whsec_/)
    await button(page, 'Close').click()
    await page.getByLabel('Event type').fill('run.succeeded')
    await button(page, 'Send').click()
    await page.getByText('Sent the test event').waitFor()
    await page.getByRole('link', { name: agent.url }).click()
    const entry = page.getByRole('listitem').filter({ hasText: 'run.succeeded' }).first()
    await expect
      .poll(async () => {
        await button(page, 'Refresh').click()
        return entry.locator('summary').textContent()
      })
      .toContain('1 attempt')
    await entry.locator('summary').click()
    await entry.getByText('Out of order').waitFor()
    await expectAccessible(page, 'portal-webhook')
    agent.answer({ kind: 'answer', status: 204 })
    await entry.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('Sent again.').waitFor()
    await button(page, 'Pause').click()
    await button(page, 'Resume').waitFor()
  })
})

describe('an app’s settings', () => {
  it('show a new signing secret once, with an overlap, and changes that wait for review', async () => {
    const { page, platform } = stage
    const { developer, app } = await listApp(platform, {})
    await openAs(stage, developer, `/apps/${app.id}/settings`)
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Signing secret' })
      .getByRole('button', { name: 'Replace' })
      .click()
    await dialog(page).getByLabel('Overlap').selectOption('24')
    await dialog(page).getByRole('button', { name: 'Replace' }).click()
    const secret = await dialog(page).getByLabel('Signing secret', { exact: true }).inputValue()
    expect(secret).not.toBe('')
    await button(page, 'Close').click()
    expect(await page.content()).not.toContain(secret)
    await page.getByLabel('Summary').fill('A new promise.')
    await button(page, 'Save').click()
    await page.getByText('Saved. Moderators review the changes.').waitFor()
    await page.getByText('Changes in review').first().waitFor()
    const { body } = await developer.call('GET', `/api/v1/dev/apps/${app.id}`)
    expect(body.pending_revision.changes).toEqual({ summary: 'A new promise.' })
  })
})

/** Text with markup and a direction override, which must be shown as plain text. */
const EVIL_NAME = '<img src=x onerror=alert(1)>"\'&'

describe('every screen of the portal', () => {
  it('is accessible in both colour schemes, narrow and wide, and shows untrusted text as plain text', async () => {
    const { page, platform, agent } = stage
    letSucceed(stage)
    const { developer, app } = await listApp(
      platform,
      { name: `Shop ${EVIL_NAME}` },
      { runtime: { type: 'webhook', endpoint: agent.url } },
    )
    await developer.call('POST', `/api/v1/dev/apps/${app.id}/messages`, { text: EVIL_NAME })
    await developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci', expires_in_days: 30 })
    const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/test-run`, { input: { q: EVIL_NAME } })
    const customer = await installed(platform.deps, { endpoint: agent.url })
    await platform.call('POST', '/console/agent-requests', {
      token: customer.token,
      body: { title: `An agent ${EVIL_NAME}`, description: EVIL_NAME },
    })
    await platform.drain()
    await openAs(stage, developer)
    await expectScreens(page, 'portal-', [
      ['apps', '/', 'Apps', /^Shop/],
      ['app', `/apps/${app.id}`, /^Shop/, 'Installations'],
      ['versions', `/apps/${app.id}/versions`, /^Shop/, 'The manifest is valid'],
      ['test', `/apps/${app.id}/test`, /^Shop/, 'Run it in the sandbox'],
      ['runs', `/apps/${app.id}/runs`, /^Shop/, /run_/],
      ['run', `/apps/${app.id}/runs/${body.run.id}`, /^Shop/, 'Timeline'],
      ['webhooks', `/apps/${app.id}/webhooks`, /^Shop/, 'Subscriptions in the sandbox'],
      ['figures', `/apps/${app.id}/figures`, /^Shop/, '95% within'],
      ['reviews', `/apps/${app.id}/reviews`, /^Shop/, 'No reviews yet'],
      ['settings', `/apps/${app.id}/settings`, /^Shop/, 'Redirect URIs'],
      ['requests', '/requests', 'Agents that customers ask for', /requests|vote/],
      ['sandbox', '/sandbox', 'Sandbox', 'Sample records'],
      ['team', '/team', 'Team', 'Roles'],
      ['account', '/account', 'Account', 'Verified badge'],
    ])
  })
})
