import { describe, expect, it } from 'vitest'
import { AppEntity, VersionEntity } from '#shared/entities/apps.ts'
import { DeveloperEntity } from '#shared/entities/developers.ts'
import { InstallationEntity } from '#shared/entities/installations.ts'
import { WorkspaceEntity } from '#shared/entities/people.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { REDIRECT } from '#test/functions/oauth/support.ts'
import { installed } from '#test/support/fixtures.ts'
import { consentStage, expectAccessible, heading, openAs, refuse, signInHere } from './harness.ts'

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

describe('every state of the consent page says in words what is the matter', () => {
  it('signing in', async () => {
    const { page, url } = stage
    const { tg } = await asked()
    await page.goto(`${url}/oauth/consent?tg=${tg}`)
    await heading(page, 'Sign in to decide').waitFor()
    await page
      .getByRole('timer')
      .getByText(/^(10:00|9:5\d)$/)
      .waitFor()
    await expectAccessible(page, 'sign-in-local')
  })

  it('a request, with a verified developer', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    const developer = {
      id: app.developer_id,
      email: 'dev@example.com',
      name: 'Ann',
      company: 'Acme Ltd',
      created_at: 0,
    }
    await stage.platform.deps.table.transact([
      DeveloperEntity.create({
        ...developer,
        status: 'active',
        verified: true,
        sandbox_workspace_id: 'ws_none',
        key_hash: sha256(app.id),
      }),
    ])
    await changeApp(app.id, { verified: true, privacy_url: 'https://client.example/privacy' })
    await openAs(stage, tg)
    await page.getByText('by Acme Ltd').waitFor()
    await page.getByText('Verified developer', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Privacy policy of the app' }).waitFor()
    await expectAccessible(page, 'request')
  })

  it('a request again, with what is new and what is lost', async () => {
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
    await expectAccessible(page, 'request-again')
  })

  it('names without a space, and an app that asks for nothing', async () => {
    const { page } = stage
    const { app, tg } = await asked({ scopes: [] })
    await changeApp(app.id, { name: 'W'.repeat(80), summary: 'x'.repeat(300) })
    await openAs(stage, tg, 'y'.repeat(100))
    await page.getByText('Nothing beyond being installed').waitFor()
    await expectAccessible(page, 'long-names')
  })

  it('no workspace where the person may install: why, and whom to ask; declining still works', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    await changeApp(app.id, { status: 'draft' })
    await openAs(stage, tg)
    await page
      .getByText(/home-\d+: The platform has not approved the app yet, or offers it no longer\. .* ask its developer\./)
      .waitFor()
    expect(await approve().isDisabled()).toBe(true)
    await expectAccessible(page, 'no-workspace')
    await decline().click()
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('a member who may not install', async () => {
    const { page } = stage
    const { tg } = await asked()
    await stage.act.signIn({ user: 'only-member', workspace: 'of-others', role: 'member' })
    await page.goto(`${stage.url}/oauth/consent?tg=${tg}`)
    await signInHere(page, 'only-member', 'of-others')
    await page.getByText(/Ask somebody with the role admin or owner there to install it/).waitFor()
  })

  it('a workspace, or an installation, that is suspended', async () => {
    const { page } = stage
    const { app, installation, workspaceId, tg } = await asked()
    const at = { workspace_id: workspaceId, id: installation.id }
    await stage.platform.deps.table.transact([InstallationEntity.update(at, { set: { status: 'suspended' } })])
    await openAs(stage, tg, workspaceId)
    await page.getByText(/The workspace, or the app in it, is suspended\./).waitFor()
    const { workspace } = await stage.act.signIn()
    const tgElsewhere = await stage.act.link(app)
    await openAs(stage, tgElsewhere, workspace.id)
    await approve().waitFor()
    // Suspended between the look and the answer.
    await stage.platform.deps.table.transact([
      WorkspaceEntity.update({ id: workspace.id }, { set: { status: 'suspended' } }),
    ])
    await approve().click()
    await page.getByText('The workspace is suspended, or is to be deleted. Ask an admin of the workspace').waitFor()
    expect(await approve().isDisabled()).toBe(true)
  })

  it('a scope that an admin forbids between the look and the answer: shown afresh, with the choices kept', async () => {
    const { page } = stage
    const { tg } = await asked()
    const { workspace } = await stage.act.signIn()
    await openAs(stage, tg, workspace.id)
    await page.getByRole('checkbox', { name: /tools:invoke/ }).uncheck()
    await stage.platform.deps.table.transact([
      WorkspaceEntity.update({ id: workspace.id }, { set: { denied_scopes: ['chat:write'] } }),
    ])
    await approve().click()
    await page.getByText(/An admin of the organization forbade chat:write/).waitFor()
    await page.getByText('Forbidden by an admin of this workspace').waitFor()
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
    await expectAccessible(page, 'no-manifest')
    await decline().click()
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('an app that changed meanwhile', async () => {
    const { page } = stage
    for (const set of [{ requested_scopes: ['runs:read'] }, { redirect_uris: ['https://client.example/other'] }]) {
      const { app, tg } = await asked()
      await openAs(stage, tg)
      await approve().waitFor()
      await changeApp(app.id, set)
      await approve().click()
      await heading(page, 'The app changed meanwhile').waitFor()
    }
    await expectAccessible(page, 'over-plain')
  })

  it('a suspended app', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    await changeApp(app.id, { status: 'suspended' })
    await openAs(stage, tg)
    await heading(page, 'The app is suspended').waitFor()
    await expectAccessible(page, 'suspended')
  })

  it('a link that is somebody else’s, over, decided, unknown or not whole', async () => {
    const { page, url, act } = stage
    const { app, tg } = await asked()
    await act.open((await act.signIn()).token, tg)
    await openAs(stage, tg)
    await heading(page, 'This link is not yours to decide').waitFor()
    await expectAccessible(page, 'not-yours')

    const decided = await act.link(app)
    await act.decide((await act.signIn()).token, decided, { decision: 'deny' })
    const late = await act.link(app)
    const seen = await act.link(app)
    await openAs(stage, seen)
    await approve().waitFor()
    stage.platform.clock.advance(600_000)
    await approve().click()
    await heading(page, 'This link is over').waitFor()
    for (const one of [decided, late, 'x'.repeat(43)]) {
      await page.goto(`${url}/oauth/consent?tg=${one}`)
      await heading(page, 'This link is over').waitFor()
    }
    await expectAccessible(page, 'expired')
    for (const query of ['', '?tg=', '?tg=a%20b']) {
      await page.goto(`${url}/oauth/consent${query}`)
      await heading(page, 'This link is not complete').waitFor()
    }
    await expectAccessible(page, 'incomplete')
  })

  it('no connection, and trying again', async () => {
    const { page, url } = stage
    const { tg } = await asked()
    await page.route('**/oauth/consent/status?*', (route) => route.abort(), { times: 1 })
    await page.goto(`${url}/oauth/consent?tg=${tg}`)
    await heading(page, 'No connection').waitFor()
    await expectAccessible(page, 'no-connection')
    await page.getByRole('button', { name: 'Try again' }).click()
    await heading(page, 'Sign in to decide').waitFor()
  })

  it('a fault of the server, with the request’s id', async () => {
    const { page } = stage
    const { tg } = await asked()
    await page.route('**/oauth/consent/request?*', (route) => refuse(route, 500, 'internal_error'), { times: 1 })
    await openAs(stage, tg)
    await heading(page, 'Something went wrong on our side').waitFor()
    await page.getByText('Request id: req_test').waitFor()
    await expectAccessible(page, 'server-error')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.route('**/oauth/consent/decision', (route) => refuse(route, 500, 'internal_error'), { times: 1 })
    await approve().click()
    await page
      .getByRole('alert')
      .getByText(/Request id: req_test/)
      .waitFor()
    await approve().click()
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('a session that is over: signing in again keeps the choices', async () => {
    const { page, platform } = stage
    const { tg } = await asked()
    const who = await openAs(stage, tg)
    await page.getByRole('checkbox', { name: /chat:write/ }).uncheck()
    const token = await page.evaluate('JSON.parse(sessionStorage["console-session"]).token')
    await platform.call('DELETE', '/console/session', { token: String(token) })
    await approve().click()
    await page.getByText('Your session is over. Sign in again: what you chose is kept.').waitFor()
    await expectAccessible(page, 'session-over')
    await signInHere(page, who.user, who.workspace)
    await approve().waitFor()
    expect(await page.getByRole('checkbox', { name: /chat:write/ }).isChecked()).toBe(false)
  })

  it('who is signed in, and how to be somebody else', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    const { user } = await openAs(stage, tg)
    await page.getByText(`Signed in as ${user}.`).waitFor()
    await page.getByRole('button', { name: 'Not you? Sign out' }).click()
    await page.getByText(/You are signed out\. This link stays with whoever opened it/).waitFor()
    expect(await page.evaluate('sessionStorage["console-session"]')).toBeUndefined()
    await signInHere(page, 'somebody-else', 'elsewhere')
    await heading(page, 'This link is not yours to decide').waitFor()
    await openAs(stage, await stage.act.link(app))
    await approve().waitFor()
  })
})

describe('the time that is left', () => {
  it('counts down, is announced at 5 minutes, at 1 minute and at the end, and then the link is over', async () => {
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
    expect(await announced()).toBe('This link works for another 5 minutes.')
    await page.clock.fastForward(4 * 60_000)
    expect(await announced()).toBe('This link works for another minute.')
    await page.clock.fastForward(61_000)
    await heading(page, 'This link is over').waitFor()
    expect(await announced()).toBe('This link is over.')
    expect(await approve().isVisible()).toBe(false)
  })
})
