import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { heading, visit } from '#test/browser/console/harness.ts'
import { submitApp } from '#test/functions/admin/moderation-support.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { installed } from '#testkit/fixtures.ts'
import { adminStage, fillSignIn, newAdmin, openAs, SUPERADMIN, staffCall } from './harness.ts'

const stage = adminStage()
// Refills the bucket of the admin’s key, with which tests prepare what they need.
beforeEach(() => stage.platform.clock.advance(5_000))

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')

describe('signing in', () => {
  it('explains why it failed, and blocks further attempts after five', async () => {
    const { page, url } = stage
    const { email, password } = await newAdmin(stage, 'moderator')
    await page.goto(`${url}/staff#/settings`)
    await heading(page, 'Sign in').waitFor()
    await expectAccessible(page, 'staff-sign-in')
    for (let i = 0; i < 5; i++) {
      await fillSignIn(page, email, 'something else')
      await page
        .getByRole('alert')
        .filter({ hasText: /password/i })
        .waitFor()
      await expect.poll(() => page.getByLabel('Password').inputValue()).toBe('')
    }
    await fillSignIn(page, email, password)
    await page
      .getByRole('alert')
      .filter({ hasText: /too many|minutes/i })
      .waitFor()
    stage.platform.clock.advance(16 * 60_000)
    await fillSignIn(page, email, password)
    await heading(page, 'Settings').waitFor()
    await page.getByText('Only a superadmin can change these settings.').waitFor()
  })

  it('survives a reload, and signing out deletes the token, which never appears in a URL', async () => {
    const { page } = stage
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await openAs(stage, SUPERADMIN, '/apps')
    await page.reload()
    await heading(page, 'Apps').waitFor()
    const { token } = (await page.evaluate("JSON.parse(sessionStorage.getItem('admin-session'))")) as { token: string }
    await button(page, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    expect(
      await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])'),
    ).not.toContain(token)
    await page.reload()
    await heading(page, 'Sign in').waitFor()
    expect(asked.filter((address) => address.includes(token))).toEqual([])
    expect(page.url()).not.toContain(token)
  })

  it('ends with the next request after the account is demoted, and the next session has the lower role', async () => {
    const { page } = stage
    const account = await newAdmin(stage, 'superadmin')
    await openAs(stage, account, '/admins')
    await heading(page, 'Staff accounts').waitFor()
    await staffCall(stage, 'PATCH', `/admin/admins/${account.id}`, { role: 'moderator' })
    // The page may ask for something by itself before the click.
    const signIn = heading(page, 'Sign in').waitFor()
    await Promise.any([page.getByRole('link', { name: 'Apps', exact: true }).click(), signIn])
    await signIn
    await page.getByText('Your session ended.').waitFor()
    await fillSignIn(page, account.email, account.password)
    await heading(page, 'Apps').waitFor()
    expect(await page.getByRole('link', { name: 'Staff accounts', exact: true }).count()).toBe(0)
  })
})

describe('a moderator without a mouse', () => {
  it('moves through the queue, claims, opens and reaches the decisions, and sees the developer’s whole history', async () => {
    const { page, platform } = stage
    await submitApp(platform, { name: 'Keyed first' })
    await submitApp(platform, { name: 'Keyed second' })
    await openAs(stage, SUPERADMIN, '/review')
    await heading(page, 'Review').waitFor()
    const link = (name: string) => page.getByRole('link', { name })
    await link('Keyed first').focus()
    const focused = () => page.evaluate('document.activeElement.textContent.trim()')
    const names = page.locator('[data-item] a')
    const all = await names.allTextContents()
    await names.first().focus()
    await page.keyboard.press('j')
    expect(await focused()).toBe(all[1])
    await page.keyboard.press('k')
    expect(await focused()).toBe(all[0])
    await link('Keyed first').focus()
    await page.keyboard.press('c')
    expect(await focused()).toMatch(/^Claim Keyed first/)
    await page.keyboard.press('Enter')
    await page.getByText('Claimed by').first().waitFor()
    await link('Keyed first').press('Enter')
    await heading(page, 'Keyed first').waitFor()
    await page.locator('main .sides a').first().focus()
    await page.keyboard.press('r')
    expect(await focused()).toMatch(/^Reject/)
    await page.keyboard.press('a')
    expect(await focused()).toMatch(/^Approve/)
    await page.locator('main dl.facts a').first().click()
    await page.getByRole('heading', { name: 'History' }).waitFor()
    await page.getByRole('link', { name: 'Keyed first' }).waitFor()
    await page.locator('ol.history summary', { hasText: 'submitted' }).first().waitFor()
    await expectAccessible(page, 'staff-developer')
  })
})

describe('a submission', () => {
  it('can be claimed from the queue, checked with evidence, test-installed and approved', async () => {
    const { page, agent, platform } = stage
    const body = JSON.stringify({ status: 'succeeded', output: { text: 'Four.' } })
    agent.answer({ kind: 'answer', headers: { 'content-type': 'application/json' }, body })
    const { app } = await submitApp(
      platform,
      { name: 'Stock counter' },
      { runtime: { type: 'webhook', endpoint: agent.url } },
    )
    await openAs(stage, await newAdmin(stage, 'moderator'), '/review')
    const row = page.getByRole('listitem').filter({ hasText: 'Stock counter' })
    await row.getByText('Has a logo').waitFor()
    await row.getByRole('button', { name: 'Claim' }).click()
    await row.getByText('Claimed by').waitFor()
    await row.getByRole('link', { name: 'Stock counter' }).click()
    await heading(page, 'Stock counter').waitFor()
    // This agent answers unsigned calls, which the check reports with evidence.
    const refusal = page.getByRole('group').filter({ hasText: 'Signature refusal' })
    await refusal.getByText('Failed').waitFor()
    await refusal.getByText(agent.url).waitFor()
    await button(page, 'Install and run').click()
    await page.getByText('✓ Succeeded').waitFor()
    await button(page, 'Approve').click()
    await dialog(page)
      .getByText(/checks? failed:$/)
      .waitFor()
    await dialog(page).getByText('Signature refusal').waitFor()
    expect(await dialog(page).getByRole('checkbox').count()).toBe(0)
    await expectAccessible(page, 'staff-approving')
    await dialog(page).getByRole('button', { name: 'Approve' }).click()
    await page.getByText('App approved.').waitFor()
    await page.getByText('app.approved').waitFor()
    expect((await staffCall(stage, 'GET', `/admin/apps/${app.id}`)).app.status).toBe('approved')
    await visit(page, '/review')
    await expect.poll(() => row.count()).toBe(0)
  })

  it('can be rejected only with a reason, which its developer can read', async () => {
    const { page, platform } = stage
    const { app, developer } = await submitApp(platform, { name: 'Stock teller' })
    await openAs(stage, await newAdmin(stage, 'moderator'), `/apps/${app.id}`)
    await button(page, 'Reject').click()
    const send = dialog(page).getByRole('button', { name: 'Reject' })
    expect(await send.isDisabled()).toBe(true)
    await dialog(page).getByLabel('Reason').fill('The privacy policy is of another company.')
    await send.click()
    await page.getByText('App rejected.').waitFor()
    const { body } = await developer.call('GET', `/api/v1/dev/apps/${app.id}`)
    expect(body).toMatchObject({ status: 'rejected', status_reason: 'The privacy policy is of another company.' })
  })
})

describe('the kill switch', () => {
  it('stops the app at once after its slug was typed, and the audit log has the change', async () => {
    const { page, platform, agent } = stage
    const app = await installed(platform.deps, { endpoint: agent.url })
    const call = () => platform.call('GET', '/api/v1/me', { token: app.token })
    expect((await call()).status).toBe(200)
    await openAs(stage, SUPERADMIN, `/apps/${app.app.id}`)
    await button(page, 'Suspend app').click()
    const send = dialog(page).getByRole('button', { name: 'Suspend now' })
    await dialog(page).getByLabel('Reason').fill('It sends what it reads to strangers.')
    await dialog(page)
      .getByLabel(/to confirm/)
      .fill('another')
    expect(await send.isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog(page).count()).toBe(0)
    // The focus returns when the dialog is gone.
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Suspend app')
    expect((await call()).status).toBe(200)

    await button(page, 'Suspend app').click()
    await expect.poll(() => dialog(page).getByLabel('Reason').inputValue()).toMatch(/strangers/)
    await dialog(page)
      .getByLabel(/to confirm/)
      .fill(app.app.slug)
    await expectAccessible(page, 'staff-suspending')
    await page.keyboard.press('Enter')
    await page.getByText('App suspended.').waitFor()
    expect((await call()).body.error.code).toBe('app_suspended')

    await visit(page, '/audit')
    await page.getByLabel('Action').fill('app.suspended')
    await page.keyboard.press('Enter')
    const entry = page.locator('details').filter({ hasText: 'app.suspended' }).first()
    await entry.locator('summary').click()
    await entry.getByRole('columnheader', { name: 'Before' }).waitFor()
    await entry.getByRole('row').filter({ hasText: 'suspended' }).waitFor()
    await entry.getByText('It sends what it reads to strangers.').waitFor()
    expect(page.url()).toContain('action=app.suspended')

    await visit(page, `/apps/${app.app.id}`)
    await button(page, 'Lift suspension').click()
    await dialog(page)
      .getByLabel(/to confirm/)
      .fill(app.app.slug)
    await dialog(page).getByRole('button', { name: 'Lift suspension' }).click()
    await page.getByText('Suspension lifted.').waitFor()
    expect((await call()).status).toBe(200)
  })

  it('isn’t available to moderators, neither on the page nor through the API', async () => {
    const { page, platform } = stage
    const { app } = await listApp(platform, { name: 'Ledger' })
    const moderator = await newAdmin(stage, 'moderator')
    await openAs(stage, moderator, `/apps/${app.id}`)
    await page.getByText('Only a superadmin can suspend an app').waitFor()
    expect(await button(page, 'Suspend app').count()).toBe(0)
    await visit(page, '/admins')
    await heading(page, 'Superadmins only').waitFor()

    await page.route('**/admin/me', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), role: 'superadmin' } })
    })
    await page.reload()
    await page.getByRole('alert').filter({ hasText: 'superadmin' }).waitFor()
    await visit(page, `/apps/${app.id}`)
    await button(page, 'Suspend app').click()
    await dialog(page).getByLabel('Reason').fill('Because.')
    await dialog(page)
      .getByLabel(/to confirm/)
      .fill(app.slug)
    await dialog(page).getByRole('button', { name: 'Suspend now' }).click()
    const words = dialog(page).getByRole('alert')
    await words.filter({ hasText: 'superadmin' }).waitFor()
    await words.getByText(/req_/).waitFor()
    expect((await staffCall(stage, 'GET', `/admin/apps/${app.id}`)).app.status).toBe('approved')
  })
})

describe('other staff tasks', () => {
  it('saves a complete export as a file, and confirms it', async () => {
    const { page, platform } = stage
    await listApp(platform, { name: '=HYPERLINK("x")' })
    // Records created within the last second may be missing.
    platform.clock.advance(5_000)
    await openAs(stage, SUPERADMIN, '/export')
    const coming = page.waitForEvent('download')
    await button(page, 'Export').click()
    const download = await coming
    expect(download.suggestedFilename()).toMatch(/^apps-\d{4}-\d\d-\d\d\.csv$/)
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain(`"'=HYPERLINK(""x"")"`)
    expect(text).toMatch(/"#end",\d+/)
    await page.getByText(/^Downloaded apps-.*\.csv/).waitFor()
  })

  it('messages a developer, resolves an abuse report and hides a review', async () => {
    const { page, platform } = stage
    const { app, developer } = await listApp(platform, { name: 'Chatterbox' })
    const { body: who } = await platform.call('POST', '/console/session', { body: { user: 'Ann', workspace: 'acme' } })
    const person = (method: string, path: string, body: object) =>
      platform.call(method, path, { token: who.token, body })
    await person('POST', '/console/installations', { slug: app.slug })
    await person('PUT', `/console/apps/${app.id}/review`, { rating: 1, text: 'An insult.' })
    await person('POST', '/console/abuse-reports', { app_id: app.id, category: 'spam', text: 'It writes all day.' })
    await openAs(stage, await newAdmin(stage, 'moderator'), `/apps/${app.id}`)
    await page.getByLabel('Message to the developer').fill('How often does it write?')
    await button(page, 'Send').click()
    await page.locator('.message').getByText('How often does it write?').waitFor()
    const { body: messages } = await developer.call('GET', `/api/v1/dev/apps/${app.id}/messages`)
    const asked = messages.items.find(({ text }: { text: string }) => text === 'How often does it write?')
    expect(asked.author.name).toBe('Moderation')
    await button(page, 'Uphold').click()
    await dialog(page).getByLabel('Reason').fill('The developer was told.')
    await dialog(page).getByRole('button', { name: 'Uphold' }).click()
    await page.getByText('Report upheld.').waitFor()
    await expect.poll(() => page.getByText('Open abuse reports').count()).toBe(0)
    await visit(page, `/reviews?app=${app.id}`)
    await button(page, 'Hide the review by Ann').click()
    await dialog(page).getByLabel('Reason').fill('It insults a person.')
    await dialog(page).getByRole('button', { name: 'Hide' }).click()
    await button(page, 'Show again the review by Ann').waitFor()
  })

  it('creates a key for an account, and shows it once', async () => {
    const { page, platform } = stage
    const account = await newAdmin(stage, 'moderator')
    await openAs(stage, SUPERADMIN, '/admins')
    await page.locator('article').filter({ hasText: account.email }).getByRole('button', { name: 'Keys of' }).click()
    await dialog(page).getByLabel('Purpose').fill('ci')
    await dialog(page).getByRole('button', { name: 'Create key' }).click()
    const key = await dialog(page).getByText(/^adk_/).textContent()
    await expectAccessible(page, 'staff-key')
    const { body } = await platform.call('GET', '/admin/me', { headers: { 'x-admin-key': key ?? '' } })
    expect(body).toMatchObject({ email: account.email, key_name: 'ci' })
    await dialog(page).getByRole('button', { name: 'I’ve saved it' }).click()
    expect(await dialog(page).getByText(/^adk_/).count()).toBe(0)
  })
})
