import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { DeveloperEntity, newDeveloper } from '#shared/identity/developers/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { installed } from '#testkit/fixtures.ts'
import { REDIRECT } from '#testkit/oauth.ts'
import { consentStage, heading, openAs, refuse, signInHere } from './harness.ts'

const stage = consentStage()

const asked = async (
  scopes: Parameters<typeof installed>[1] = { scopes: ['runs:read', 'chat:write', 'tools:invoke'] },
) => {
  const client = await installed(stage.platform.deps, scopes)
  return { ...client, tg: await stage.act.link(client.app) }
}
const changeApp = (id: string, set: object) => stage.platform.deps.table.transact([AppEntity.update({ id }, { set })])
const approve = () => stage.page.getByRole('button', { name: 'Approve' })
const decline = () => stage.page.getByRole('button', { name: 'Decline' })

describe('every state of the consent page explains itself in words', () => {
  it('sign-in', async () => {
    const { page, url } = stage
    const { tg } = await asked()
    await page.goto(`${url}/oauth/consent?tg=${tg}`)
    await heading(page, 'Sign in to continue').waitFor()
    await page
      .getByRole('timer')
      .getByText(/^(10:00|9:5\d)$/)
      .waitFor()
    await expectAccessible(page, 'consent-sign-in-local')
  })

  it('a request from a verified developer', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    const developer = newDeveloper({
      ...stampOf(app.developer_id),
      email: 'dev@example.com',
      name: 'Ann',
      company: 'Acme Ltd',
      status: 'active',
      verified: true,
      sandbox_workspace_id: 'ws_none',
      key_hash: sha256(app.id),
      language: 'en',
    })
    await stage.platform.deps.table.transact([DeveloperEntity.create(developer)])
    await changeApp(app.id, { verified: true, privacy_url: 'https://client.example/privacy' })
    await openAs(stage, tg)
    await page.getByText('by Acme Ltd', { exact: true }).waitFor()
    await page.getByText('Verified developer', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'App’s privacy policy' }).waitFor()
    await expectAccessible(page, 'consent-request')
  })

  it('a repeated request, with added and removed permissions', async () => {
    const { page } = stage
    const { app, installation, workspaceId } = await asked()
    const at = { workspace_id: workspaceId, id: installation.id }
    const set = { scopes: ['runs:read', 'files:write'] }
    await stage.platform.deps.table.transact([
      InstallationEntity.update(at, { set }),
      WorkspaceEntity.update({ id: workspaceId }, { set: { denied_scopes: ['tools:invoke'] } }),
    ])
    await openAs(stage, await stage.act.link(app), workspaceId)
    await page.locator('#lost-scopes').getByText('Create and delete files').waitFor()
    await page.getByRole('checkbox', { name: /chat:write/ }).uncheck()
    await expectAccessible(page, 'consent-request-again')
  })

  it('long names without spaces, and an app that requests no permissions', async () => {
    const { page } = stage
    const { app, tg } = await asked({ scopes: [] })
    await changeApp(app.id, { name: 'W'.repeat(80), summary: 'x'.repeat(300) })
    await openAs(stage, tg, 'y'.repeat(100))
    await page.getByText('No permissions requested').waitFor()
    await expectAccessible(page, 'consent-long-names')
  })

  it('no usable workspace, with the reason and whom to ask; declining still works', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    await changeApp(app.id, { status: 'draft' })
    await openAs(stage, tg)
    await page
      .getByText(/home-\d+: This app isn’t approved yet or is no longer listed\. .* ask its developer\./)
      .waitFor()
    expect(await approve().isDisabled()).toBe(true)
    await expectAccessible(page, 'consent-no-workspace')
    await decline().click()
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('a member who can’t install apps', async () => {
    const { page } = stage
    const { tg } = await asked()
    await stage.act.signIn({ user: 'only-member', workspace: 'of-others', role: 'member' })
    await page.goto(`${stage.url}/oauth/consent?tg=${tg}`)
    await signInHere(page, 'only-member', 'of-others')
    await page.getByText(/Only admins and owners can install apps here\. Ask one of them\./).waitFor()
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText(/Link copied|Copy it from here: .*\/oauth\/consent\?tg=/).waitFor()
    await expectAccessible(page, 'consent-member')

    const admin = await stage.act.signIn()
    expect((await stage.act.open(admin.token, tg)).body.claimed).toBe(true)
  })

  it('a suspended workspace or installation', async () => {
    const { page } = stage
    const { app, installation, workspaceId, tg } = await asked()
    const at = { workspace_id: workspaceId, id: installation.id }
    await stage.platform.deps.table.transact([InstallationEntity.update(at, { set: { status: 'suspended' } })])
    await openAs(stage, tg, workspaceId)
    await page.getByText(/This workspace, or the app in it, is suspended\./).waitFor()
    const { workspace } = await stage.act.signIn()
    const tgElsewhere = await stage.act.link(app)
    await openAs(stage, tgElsewhere, workspace.id)
    await approve().waitFor()
    // Suspended between loading and approving.
    await stage.platform.deps.table.transact([
      WorkspaceEntity.update({ id: workspace.id }, { set: { status: 'suspended' } }),
    ])
    await approve().click()
    await page.getByText('The platform has suspended the workspace. Ask an owner of the workspace').waitFor()
    expect(await approve().isDisabled()).toBe(true)
  })

  it('a scope blocked by an admin in the meantime: the page reloads and keeps the choices', async () => {
    const { page } = stage
    const { tg } = await asked()
    const { workspace } = await stage.act.signIn()
    await openAs(stage, tg, workspace.id)
    await page.getByRole('checkbox', { name: /tools:invoke/ }).uncheck()
    await stage.platform.deps.table.transact([
      WorkspaceEntity.update({ id: workspace.id }, { set: { denied_scopes: ['chat:write'] } }),
    ])
    await approve().click()
    await page.getByText(/An admin of the workspace has blocked the scope chat:write/).waitFor()
    await page.getByText('Blocked by a workspace admin').waitFor()
    expect(await page.getByRole('checkbox', { name: /tools:invoke/ }).isChecked()).toBe(false)
    await approve().click()
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('an app without a published version', async () => {
    const { page } = stage
    const { app, version, tg } = await asked()
    await stage.platform.deps.table.transact([VersionEntity.delete({ app_id: app.id, id: version.id })])
    await openAs(stage, tg)
    await approve().click()
    await page
      .getByRole('alert')
      .getByText(/no published version/)
      .waitFor()
    await expectAccessible(page, 'consent-no-manifest')
    await decline().click()
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('an app that changed in the meantime', async () => {
    const { page } = stage
    for (const set of [{ requested_scopes: ['runs:read'] }, { redirect_uris: ['https://client.example/other'] }]) {
      const { app, tg } = await asked()
      await openAs(stage, tg)
      await approve().waitFor()
      await changeApp(app.id, set)
      await approve().click()
      await heading(page, 'This app has changed').waitFor()
    }
    await expectAccessible(page, 'consent-over-plain')
  })

  it('a suspended app', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    await changeApp(app.id, { status: 'suspended' })
    await openAs(stage, tg)
    await heading(page, 'This app is suspended').waitFor()
    await expectAccessible(page, 'consent-suspended')
  })

  it('a link that is another user’s, expired, used, unknown or incomplete', async () => {
    const { page, url, act } = stage
    const { app, tg } = await asked()
    await act.open((await act.signIn()).token, tg)
    await openAs(stage, tg)
    await heading(page, 'You can’t use this link').waitFor()
    await expectAccessible(page, 'consent-not-yours')

    const decided = await act.link(app)
    await act.decide((await act.signIn()).token, decided, { decision: 'deny' })
    const late = await act.link(app)
    const seen = await act.link(app)
    await openAs(stage, seen)
    await approve().waitFor()
    stage.platform.clock.advance(600_000)
    await approve().click()
    await heading(page, 'This link has expired').waitFor()
    for (const one of [decided, late, 'x'.repeat(43)]) {
      await page.goto(`${url}/oauth/consent?tg=${one}`)
      await heading(page, 'This link has expired').waitFor()
    }
    await expectAccessible(page, 'consent-expired')
    for (const query of ['', '?tg=', '?tg=a%20b']) {
      await page.goto(`${url}/oauth/consent${query}`)
      await heading(page, 'This link is incomplete').waitFor()
    }
    await expectAccessible(page, 'consent-incomplete')
  })

  it('no connection, with a retry', async () => {
    const { page, url } = stage
    const { tg } = await asked()
    await page.route('**/oauth/consent/status?*', (route) => route.abort(), { times: 1 })
    await page.goto(`${url}/oauth/consent?tg=${tg}`)
    await heading(page, 'No connection').waitFor()
    await expectAccessible(page, 'consent-no-connection')
    await page.getByRole('button', { name: 'Try again' }).click()
    await heading(page, 'Sign in to continue').waitFor()
  })

  it('a server error, with the request ID and a retry', async () => {
    const { page } = stage
    const { tg } = await asked()
    await page.route('**/oauth/consent/request?*', (route) => refuse(route, 500, 'internal_error'), { times: 1 })
    await openAs(stage, tg)
    await heading(page, 'Something went wrong on our end').waitFor()
    await page.getByText('Request ID: req_test').waitFor()
    await expectAccessible(page, 'consent-server-error')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.route('**/oauth/consent/decision', (route) => refuse(route, 500, 'internal_error'), { times: 1 })
    await approve().click()
    await page
      .getByRole('alert')
      .getByText(/Request ID: req_test/)
      .waitFor()
    await approve().click()
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('an expired session: signing in again keeps the choices', async () => {
    const { page, platform } = stage
    const { tg } = await asked()
    const who = await openAs(stage, tg)
    await page.getByRole('checkbox', { name: /chat:write/ }).uncheck()
    const token = await page.evaluate('JSON.parse(sessionStorage["console-session"]).token')
    await platform.call('DELETE', '/console/session', { token: String(token) })
    await approve().click()
    await page.getByText('Your session expired. Sign in again. Your choices are saved.').waitFor()
    await expectAccessible(page, 'consent-session-over')
    await signInHere(page, who.user, who.workspace)
    await approve().waitFor()
    expect(await page.getByRole('checkbox', { name: /chat:write/ }).isChecked()).toBe(false)
  })

  it('the signed-in user, and how to switch accounts', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    const { user } = await openAs(stage, tg)
    await page.getByText(`Signed in as ${user}.`).waitFor()
    await page.getByRole('button', { name: 'Not you? Sign out' }).click()
    await page.getByText(/You’re signed out\. This link belongs to the account that opened it/).waitFor()
    expect(await page.evaluate('sessionStorage["console-session"]')).toBeUndefined()
    await signInHere(page, 'somebody-else', 'elsewhere')
    await heading(page, 'You can’t use this link').waitFor()
    await openAs(stage, await stage.act.link(app))
    await approve().waitFor()
  })
})

describe('the countdown', () => {
  it('announces 5 minutes, 1 minute and the end to screen readers, and then shows that the link has expired', async () => {
    const { page } = stage
    const { tg } = await asked()
    await page.clock.install()
    await openAs(stage, tg)
    await approve().waitFor()
    const left = page.locator('#request').getByRole('timer')
    const announced = () => page.locator('#announcement').textContent()
    expect(await left.textContent()).toMatch(/^(10:00|9:5\d)$/)
    await page.clock.fastForward(4 * 60_000)
    expect(await left.textContent()).toMatch(/^(6:00|5:[45]\d)$/)
    expect(await announced()).toBe('')
    await page.clock.fastForward(61_000)
    expect(await announced()).toBe('This link expires in 5 minutes.')
    await page.clock.fastForward(4 * 60_000)
    expect(await announced()).toBe('This link expires in 1 minute.')
    await page.clock.fastForward(61_000)
    await heading(page, 'This link has expired').waitFor()
    expect(await announced()).toBe('This link has expired.')
    expect(await approve().isVisible()).toBe(false)
  })
})
