import { describe, expect, it } from 'vitest'
import { type Installation, InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import { REDIRECT } from '#testkit/oauth.ts'
import { consentStage, heading, json, openAs } from './harness.ts'

const stage = consentStage()
const scopes = ['runs:read', 'chat:write', 'tools:invoke'] as const

const asked = async (options: Parameters<typeof installed>[1] = { scopes }) => {
  const client = await installed(stage.platform.deps, options)
  return { ...client, tg: await stage.act.link(client.app) }
}

const installationsIn = async (workspaceId: string): Promise<Installation[]> =>
  (await stage.platform.deps.table.query(InstallationEntity, { workspace_id: workspaceId }, { limit: 5 })).items

const changeApp = (id: string, set: object) => stage.platform.deps.table.transact([AppEntity.update({ id }, { set })])

describe('deciding on the consent page', () => {
  it('shows who requests what, marks sensitive permissions and grants only the selected ones', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    const who = await openAs(stage, tg)
    await heading(page, `${app.name} is requesting access`).waitFor()
    await page.getByText('Unverified developer').waitFor()
    expect(await page.getByText('Sensitive', { exact: true }).count()).toBe(2)
    await page.getByRole('checkbox', { name: /chat:write/ }).uncheck()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${REDIRECT}**`)
    const back = new URL(page.url())
    expect(back.searchParams.get('code')).toMatch(/^code_/)
    expect(back.searchParams.get('state')).toBe('st/ate?&=é')
    const session = await stage.act.signIn(who)
    const found = await installationsIn(session.workspace.id)
    expect(found.map((one) => one.scopes)).toEqual([['runs:read', 'tools:invoke']])
  })

  it('returns a denial to the client', async () => {
    const { page } = stage
    const { tg } = await asked()
    await openAs(stage, tg)
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.waitForURL(`${REDIRECT}**`)
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  })

  it('works with the keyboard alone', async () => {
    const { page } = stage
    const { tg } = await asked({ scopes: ['runs:read', 'chat:write'] })
    await page.goto(`${stage.url}/oauth/consent?tg=${tg}`)
    await heading(page, 'Sign in to continue').waitFor()
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.type')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in to continue')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('user')
    await page.keyboard.press('Enter')
    await heading(page, /is requesting access/).waitFor()
    const order: unknown[] = []
    for (let n = 0; n < 5; n++) {
      await page.keyboard.press('Tab')
      order.push(await focused())
    }
    expect(order).toEqual(['place', 'checkbox', 'deny', 'approve', 'switch'])
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${REDIRECT}**`)
  })

  it('submits once however often the button is pressed, and leaves no history entry', async () => {
    const { page } = stage
    const { tg } = await asked()
    const answers: string[] = []
    await page.route('**/oauth/consent/decision', async (route) => {
      answers.push(route.request().headers()['idempotency-key'] ?? '')
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    await page.goto('about:blank')
    await openAs(stage, tg)
    const approve = page.getByRole('button', { name: 'Approve' })
    await approve.dblclick()
    await approve.click({ timeout: 100 }).catch(() => {})
    await page.waitForURL(`${REDIRECT}**`)
    expect(answers).toHaveLength(1)
    await page.goBack()
    expect(page.url()).toBe('about:blank')
  })

  it('reuses the idempotency key after a lost connection', async () => {
    const { page } = stage
    const { tg } = await asked()
    await openAs(stage, tg)
    const keys: string[] = []
    await page.route('**/oauth/consent/decision', async (route) => {
      keys.push(route.request().headers()['idempotency-key'] ?? '')
      if (keys.length > 1) return route.continue()
      // The platform saves the decision, but its response is lost.
      await route.fetch()
      return route.abort()
    })
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText(/No connection\. Your answer may not have arrived/).waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${REDIRECT}**`)
    expect(new URL(page.url()).searchParams.get('code')).toMatch(/^code_/)
    expect(new Set(keys).size).toBe(1)
  })

  it('shows app text as plain text, with deceptive characters made visible', async () => {
    const { page } = stage
    const { app, tg } = await asked()
    const name = '<img src=x onerror="document.title=1">'
    await changeApp(app.id, {
      name,
      summary: '<script>alert(1)</script> \u202Eevil\u200B',
      privacy_url: 'javascript:alert(1)',
      logo_url: 'javascript:alert(1)',
    })
    await openAs(stage, tg, '"><b>place')
    await heading(page, `${name} is requesting access`).waitFor()
    await page.getByText('<script>alert(1)</script> \uFFFDevil\uFFFD').waitFor()
    expect(await page.getByRole('option').textContent()).toBe('"><b>place')
    expect(await page.locator('a[href^="javascript:"], main img[src^="javascript:"], main b').count()).toBe(0)
    expect(await page.getByText('Privacy policy').isVisible()).toBe(false)
  })

  it.each([
    // Blank characters that count as letters, and invisible ones.
    ['\u3164', '\uFFFD'],
    ['A\u115Fc\u2800m\u00ADe\u034F', 'A\uFFFDc\uFFFDm\uFFFDe\uFFFD'],
    ['\u{E0041}\uFFA0\u061C', '\uFFFD\uFFFD\uFFFD'],
    // Joiners and variation selectors of emoji and scripts.
    ['👩‍💻 ❤️ می‌خواهم', '👩‍💻 ❤️ می‌خواهم'],
  ])('makes invisible characters visible, except those that scripts need: %j', async (name, shown) => {
    const { page } = stage
    const { app, tg } = await asked()
    await changeApp(app.id, { name })
    await openAs(stage, tg)
    await heading(page, /is requesting access/).waitFor()
    expect(await page.locator('#app-name').textContent()).toBe(shown)
    expect(await page.title()).toBe(`Allow access for ${shown}`)
    const initial = await page.locator('#initial').textContent()
    expect(initial).toMatch(/^[?Aم]$/)
  })

  it.each(['com.example.app:/callback?code=1', 'javascript:document.title=1', 'data:text/html,x'])(
    'returns only to http and https URLs, not to %s',
    async (redirect_to) => {
      const { page } = stage
      const { tg } = await asked()
      await openAs(stage, tg)
      await page.route('**/oauth/consent/decision', (route) => json(route, { redirect_to }))
      await page.getByRole('button', { name: 'Approve' }).click()
      await heading(page, 'The app’s return address can’t be opened').waitFor()
      expect(await page.locator(`a[href="${redirect_to}"]`).count()).toBe(0)
    },
  )

  it('leaves out scopes blocked by a workspace admin', async () => {
    const { page } = stage
    const { tg } = await asked()
    const { workspace } = await stage.act.signIn()
    const set = { denied_scopes: ['chat:write'] }
    await stage.platform.deps.table.transact([WorkspaceEntity.update({ id: workspace.id }, { set })])
    await openAs(stage, tg, workspace.id)
    await page.getByText('Blocked by a workspace admin').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${REDIRECT}**`)
    const [installation] = await installationsIn(workspace.id)
    expect(installation?.scopes).toEqual(['runs:read', 'tools:invoke'])
  })
})

describe('consenting again', () => {
  it('marks added, existing and removed permissions for the selected workspace', async () => {
    const { page } = stage
    const client = await installed(stage.platform.deps, { scopes: ['runs:read', 'chat:write', 'files:read'] })
    const { user, workspace } = await openAs(stage, await stage.act.link(client.app))
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${REDIRECT}**`)
    await changeApp(client.app.id, { requested_scopes: ['runs:read', 'chat:write', 'tools:invoke'] })
    await stage.act.signIn({ user, workspace: `${workspace}-other` })

    await page.goto(`${stage.url}/oauth/consent?tg=${await stage.act.link(client.app)}`)
    await page.getByText(`${client.app.name} by`).waitFor()
    await page.getByLabel('Person', { exact: true }).fill(user)
    await page.getByLabel(/^Workspace/).fill(workspace)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This app is already installed').waitFor()
    const states = () =>
      page
        .locator('#scopes li')
        .evaluateAll((items) => items.map((one) => `${one.dataset.scope} ${one.querySelector('.state')?.textContent}`))
    expect(await states(), 'sensitive ones first').toEqual([
      'tools:invoke New',
      'chat:write Already allowed',
      'runs:read Already allowed',
    ])
    expect(await page.locator('#scopes h2').allTextContents()).toEqual(['Sensitive permissions', 'Read'])
    await page.getByRole('checkbox', { name: /chat:write/ }).uncheck()
    await page.getByText('Allowed now, will be removed').waitFor()
    await page.getByRole('heading', { name: 'This app will no longer be able to' }).waitFor()
    await page.locator('#lost-scopes').getByText('Read files and folders').waitFor()

    await page.getByLabel('Install in workspace').selectOption({ label: `${workspace}-other` })
    expect(await page.getByText('This app is already installed').isVisible()).toBe(false)
    expect(await page.locator('#lost').isVisible()).toBe(false)
    // The choice applies to every workspace.
    expect(await page.getByRole('checkbox', { name: /chat:write/ }).isChecked()).toBe(false)
  })
})
