import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/entities/apps.ts'
import { InstallationEntity } from '#shared/entities/installations.ts'
import { WorkspaceEntity } from '#shared/entities/people.ts'
import { launchChromium } from '#test/browser/chromium.ts'
import { installed } from '#test/support/fixtures.ts'
import { startPlatform, type TestPlatform } from '#test/support/platform.ts'
import { serveToBrowser } from './page-server.ts'
import { actors } from './support.ts'

const CALLBACK = 'https://client.example/callback'

let platform: TestPlatform
let act: ReturnType<typeof actors>
let server: Awaited<ReturnType<typeof serveToBrowser>>
let browser: Browser
let page: Page
let problems: string[]
beforeAll(async () => {
  platform = await startPlatform()
  act = actors(platform)
  server = await serveToBrowser(platform, '/stage')
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await server.close()
  await platform.stop()
})
beforeEach(async () => {
  platform.clock.advance(60_000)
  problems = []
  page = await browser.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text())
  })
  await page.route(`${CALLBACK}**`, (route) => route.fulfill({ body: 'back at the client' }))
})
afterEach(async () => {
  await page.close()
  expect(problems).toEqual([])
})

let people = 0
/** Opens a link and signs in there as somebody new. */
const openAs = async (tg: string, workspace?: string) => {
  const person = `visitor-${++people}`
  await page.goto(`${server.url}/oauth/consent?tg=${tg}`)
  await page.getByLabel('Person', { exact: true }).fill(person)
  await page.getByLabel(/^Workspace/).fill(workspace ?? `home-${people}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return person
}

const scopes = ['runs:read', 'chat:write', 'tools:invoke'] as const

describe('the consent page', () => {
  it('shows who asks for what, marks what is sensitive, and grants what the person leaves ticked', async () => {
    const { app } = await installed(platform.deps, { scopes })
    await openAs(await act.link(app))
    await page.getByRole('heading', { name: `${app.name} asks for access` }).waitFor()
    expect(await page.getByText('Sensitive', { exact: true }).count()).toBe(2)
    await page.getByRole('checkbox', { name: /chat:write/ }).uncheck()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${CALLBACK}**`)
    const back = new URL(page.url())
    expect(back.searchParams.get('code')).toMatch(/^code_/)
    expect(back.searchParams.get('state')).toBe('st/ate?&=é')
    const session = await act.signIn({ user: `visitor-${people}`, workspace: `home-${people}` })
    const partition = { workspace_id: session.workspace.id }
    const { items } = await platform.deps.table.query(InstallationEntity, partition, { limit: 5 })
    expect(items.map((one) => one.scopes)).toEqual([['runs:read', 'tools:invoke']])
  })

  it('takes a no back to the client', async () => {
    const { app } = await installed(platform.deps, { scopes })
    await openAs(await act.link(app))
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.waitForURL(`${CALLBACK}**`)
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  })

  it('shows what an app calls itself as text', async () => {
    const { app } = await installed(platform.deps, { scopes })
    const name = '<img src=x onerror="document.title=1">'
    await platform.deps.table.transact([
      AppEntity.update({ id: app.id }, { set: { name, summary: '<script>alert(1)</script>' } }),
    ])
    await openAs(await act.link(app))
    await page.getByRole('heading', { name: `${name} asks for access` }).waitFor()
    await page.getByText('<script>alert(1)</script>').waitFor()
  })

  it('says why no workspace can be chosen, and still lets the person decline', async () => {
    const { app } = await installed(platform.deps, { scopes })
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { status: 'draft' } })])
    await openAs(await act.link(app))
    await page.getByText(/not approved yet: sandbox workspaces only\.$/).waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'Decline' }).isEnabled()).toBe(true)
  })

  it('leaves out what an admin of the workspace forbade', async () => {
    const { app } = await installed(platform.deps, { scopes })
    const { workspace } = await act.signIn()
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: workspace.id }, { set: { denied_scopes: ['chat:write'] } }),
    ])
    await openAs(await act.link(app), workspace.id)
    await page.getByText('forbidden by an admin of this workspace').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${CALLBACK}**`)
  })

  it('says so when the link is over, or somebody else’s', async () => {
    const { app } = await installed(platform.deps, { scopes })
    const tg = await act.link(app)
    await act.open((await act.signIn()).token, tg)
    await openAs(tg)
    await page.getByRole('heading', { name: 'This link is not yours to decide' }).waitFor()
    const late = await act.link(app)
    platform.clock.advance(600_000)
    await openAs(late)
    await page.getByRole('heading', { name: 'This link is over' }).waitFor()
    await page.goto(`${server.url}/oauth/consent`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'This link is not complete' }).waitFor()
  })

  it('has no accessibility fault that axe finds, in light and in dark, on a phone', async () => {
    const { app } = await installed(platform.deps, { scopes })
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    await page.setViewportSize({ width: 360, height: 640 })
    await openAs(await act.link(app))
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const faults = await page.evaluate(
        `${axe}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map((n) => n.html).join()))`,
      )
      expect(faults, colorScheme).toEqual([])
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(overflow).toBe(0)
    }
  })
})

describe('GET /oauth/consent', () => {
  it('runs nothing but its own script and is framed by nobody', async () => {
    const { headers, text } = await platform.call('GET', '/oauth/consent?tg=x')
    const policy = headers['content-security-policy'] ?? ''
    for (const tag of ['script', 'style']) {
      const inside = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text)?.[1] ?? ''
      expect(policy).toContain(`${tag}-src 'sha256-${createHash('sha256').update(inside).digest('base64')}'`)
    }
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
    expect(text).not.toMatch(/(src|href)="/)
  })

  it('offers no local sign-in where sessions cannot be provisioned', async () => {
    const closed = await startPlatform({ CONSOLE_AUTO_PROVISION: 'false' })
    const elsewhere = await serveToBrowser(closed, '')
    try {
      await page.goto(`${elsewhere.url}/oauth/consent?tg=x`)
      await page.getByText(/in the messaging app/).waitFor()
      expect(await page.getByRole('button', { name: 'Sign in' }).isVisible()).toBe(false)
    } finally {
      await elsewhere.close()
      await closed.stop()
    }
  })
})
