import { expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { choose, expectFocus, expectVisibleFocus, pressButton, tabTo, typeInto } from '#test/browser/keyboard.ts'
import { installed } from '#testkit/fixtures.ts'
import { REDIRECT } from '#testkit/oauth.ts'
import { consentStage, heading } from './harness.ts'

const stage = consentStage()

/** Opens a request of an app, and signs in. */
const open = async (user: string) => {
  const { page, url, act, platform } = stage
  const { app } = await installed(platform.deps, { scopes: ['runs:read', 'chat:write', 'tools:invoke'] })
  await page.goto(`${url}/oauth/consent?tg=${await act.link(app)}`)
  await heading(page, 'Sign in to continue').waitFor()
  await typeInto(page, 'Person', user)
  await expectVisibleFocus(page)
  await page.keyboard.press('Enter')
  await expectFocus(page, 'heading', /is requesting access/)
}

it('chooses the workspace, refuses a permission and approves', async () => {
  const { page, act, platform } = stage
  await act.signIn({ user: 'kim', workspace: 'Alpha' })
  const { workspace } = await act.signIn({ user: 'kim', workspace: 'Beta' })
  await page.setViewportSize({ width: 390, height: 844 })
  await open('kim')
  await choose(page, 'Install in workspace', 'Beta')
  await expectVisibleFocus(page)
  await tabTo(page, 'checkbox', /chat:write/)
  await expectVisibleFocus(page)
  await page.keyboard.press('Space')
  await tabTo(page, 'button', 'Approve')
  await expectVisibleFocus(page)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${REDIRECT}**`)
  expect(new URL(page.url()).searchParams.get('code')).toMatch(/^code_/)
  const found = await platform.deps.table.query(InstallationEntity, { workspace_id: workspace.id }, { limit: 5 })
  expect(found.items.map(({ scopes }) => scopes)).toEqual([['runs:read', 'tools:invoke']])
})

it('declines', async () => {
  const { page } = stage
  await open('lee')
  await pressButton(page, 'Decline')
  await page.waitForURL(`${REDIRECT}**`)
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
})
