import { describe, expect, it } from 'vitest'
import { expectAccessible, heading, person, type Stage, visit } from '#test/browser/console/harness.ts'
import { submitted } from '#test/functions/app-moderation/support.ts'
import { publish } from '#test/functions/developer/support.ts'
import { offered } from '#test/functions/marketplace/support.ts'
import { installed } from '#test/support/fixtures.ts'
import { adminStage, newAdmin, openAs, SUPERADMIN, staffCall } from './harness.ts'

const stage = adminStage()

/** Text that would be markup, or would turn the line around, if it were not taken as text. */
const EVIL = '<img src=x onerror=alert(1)>‮"\'&'

/** A platform on which something of every kind has happened. */
const livelyPlatform = async ({ platform, agent }: Stage) => {
  const who = await person(stage)
  const call = async (method: string, path: string, body?: unknown, token = who.token) => {
    const answer = await platform.call(method, path, { token, ...(body !== undefined && { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const fields = { name: `Shop ${EVIL}`, summary: EVIL, description: EVIL }
  const waiting = await submitted(platform, fields, { summary: EVIL })
  const { app: listed, developer } = await offered(platform, { name: `Listed ${EVIL}` }, { summary: 'The first.' })
  const second = await publish(developer, listed, { version: '2.0.0', summary: EVIL })
  if (second.status !== 201) throw new Error(second.text)
  await call('POST', '/console/installations', { slug: listed.slug })
  await call('PUT', `/console/apps/${listed.id}/review`, { rating: 1, text: EVIL })
  await call('POST', '/console/abuse-reports', { app_id: listed.id, category: 'misleading', text: EVIL })
  await call('POST', '/console/agent-requests', { title: `An agent ${EVIL}`, description: EVIL })
  await developer.call('POST', `/api/v1/dev/apps/${listed.id}/messages`, { text: EVIL })
  await developer.call('POST', '/api/v1/dev/verification', {
    legal_name: `Ltd ${EVIL}`,
    website: 'https://example.com',
    contact_email: 'legal@example.com',
    country: 'NL',
    about: EVIL,
  })
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { question: EVIL } } })
  await newAdmin(stage, 'moderator')
  await staffCall(stage, 'PUT', '/admin/settings/denied-tools', { denied_tools: ['http_fetch'] })
  return { waiting: waiting.app, listed, who }
}

describe('every screen of the staff’s page', () => {
  it('is accessible in both schemes, narrow and wide, and shows text of others as text', async () => {
    const { page } = stage
    const { waiting, listed, who } = await livelyPlatform(stage)
    await openAs(stage, SUPERADMIN)
    const screens: [name: string, place: string, title: string | RegExp, ready: string | RegExp][] = [
      ['overview', '/', 'Overview', 'Runs, day by day'],
      ['review', '/review', 'Review', 'Checks did not run yet'],
      ['apps', '/apps', 'Apps', waiting.slug],
      ['app-in-review', `/apps/${waiting.id}`, /^Shop/, 'Approve'],
      ['app-listed', `/apps/${listed.id}`, /^Listed/, 'Uphold'],
      ['complaints', '/abuse-reports', 'Complaints', 'onerror'],
      ['verifications', '/verifications', 'Verifications', 'onerror'],
      ['reviews', '/reviews', 'Reviews', 'onerror'],
      ['requests', '/requests', 'Requests', 'onerror'],
      ['developers', '/developers', 'Developers', /@/],
      ['workspaces', '/workspaces', 'Workspaces', who.workspace.name],
      ['runs', '/runs', 'Runs', 'vendor.agent'],
      ['audit', '/audit', 'Audit', 'admin.created'],
      ['health', '/health', 'Health', 'Dead letters'],
      ['export', '/export', 'Export', 'As CSV'],
      ['settings', '/settings', 'Settings', 'Forbidden for every agent'],
      ['account', '/account', 'Your account', 'Superadmin'],
      ['staff', '/admins', 'Staff', 'admin@example.com'],
      ['more', '/more', 'More', 'Sign out'],
      ['nowhere', '/nowhere', 'Nothing here', 'There is no such page'],
    ]
    for (const [name, place, title, ready] of screens) {
      await visit(page, place)
      await heading(page, title).waitFor()
      await page.locator('main').getByText(ready).first().waitFor()
      await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
      await expectAccessible(page, `staff-${name}`)
      expect(await page.locator('main img').count()).toBe(0)
    }
  })
})
