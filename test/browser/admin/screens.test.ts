import { describe, it } from 'vitest'
import { expectScreens, person, type Stage } from '#test/browser/console/harness.ts'
import { submitApp } from '#test/functions/admin/moderation-support.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { publish } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { pngOf } from '#testkit/images.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { adminStage, newAdmin, openAs, SUPERADMIN, staffCall } from './harness.ts'

const stage = adminStage()
const logos = usingReceiver(({ path }) => ({
  kind: 'answer',
  headers: { 'content-type': 'image/png' },
  body: pngOf(128, path === '/old.png' ? [30, 110, 60] : [160, 40, 40]),
}))

/** Text with markup and a direction override, which must be shown as plain text. */
/** Names take no direction characters. Other texts do. */
const EVIL_NAME = '<img src=x onerror=alert(1)>"\'&'
const EVIL = `\u202e${EVIL_NAME}`

/** Creates records of every kind on the platform. */
const livelyPlatform = async ({ platform, agent }: Stage) => {
  const who = await person(stage)
  const call = (method: string, path: string, body?: unknown, token = who.token) =>
    succeeded(platform.call(method, path, { token, body }))
  const fields = { name: `Shop ${EVIL_NAME}`, summary: EVIL, description: EVIL }
  const waiting = await submitApp(platform, fields, { summary: EVIL })
  const { app: listed, developer } = await listApp(platform, { name: `Listed ${EVIL_NAME}` }, { summary: 'The first.' })
  await succeeded(publish(developer, listed, { version: '2.0.0', summary: EVIL }))
  await call('POST', '/console/installations', { slug: listed.slug })
  await call('PUT', `/console/apps/${listed.id}/review`, { rating: 1, text: EVIL })
  await call('POST', '/console/abuse-reports', { app_id: listed.id, category: 'misleading', text: EVIL })
  await call('POST', '/console/agent-requests', { title: `An agent ${EVIL_NAME}`, description: EVIL })
  await developer.call('POST', `/api/v1/dev/apps/${listed.id}/messages`, { text: EVIL })
  await developer.call('POST', '/api/v1/dev/verification', {
    legal_name: `Ltd ${EVIL_NAME}`,
    website: 'https://example.com',
    contact_email: 'legal@example.com',
    country: 'NL',
    about: EVIL,
  })
  const revised = await listApp(platform, { name: `Revised ${EVIL_NAME}`, logo_url: `${logos.url}/old.png` })
  await revised.developer.call('PATCH', `/api/v1/dev/apps/${revised.app.id}`, {
    name: `Renamed ${EVIL_NAME}`,
    description: EVIL,
    logo_url: `${logos.url}/new.png`,
    redirect_uris: ['https://elsewhere.example/callback'],
    requested_scopes: ['runs:read', 'chat:read', 'chat:write'],
  })
  await platform.drain()
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { question: EVIL } } })
  await newAdmin(stage, 'moderator')
  await staffCall(stage, 'PUT', '/admin/settings/denied-tools', { denied_tools: ['http_fetch'] })
  return { waiting: waiting.app, listed, revised: revised.app, who }
}

describe('every screen of the staff page', () => {
  it('is accessible in both colour schemes, narrow and wide, and shows untrusted text as plain text', async () => {
    const { page } = stage
    const { waiting, listed, revised, who } = await livelyPlatform(stage)
    await openAs(stage, SUPERADMIN)
    await expectScreens(page, 'staff-', [
      ['overview', '/', 'Overview', 'Runs by day'],
      ['review', '/review', 'Review', 'Checks haven’t run yet'],
      ['apps', '/apps', 'Apps', waiting.slug],
      ['app-in-review', `/apps/${waiting.id}`, /^Shop/, 'Approve'],
      ['app-listed', `/apps/${listed.id}`, /^Listed/, 'Uphold'],
      ['app-revised', `/apps/${revised.id}`, /^Revised/, 'Approve changes'],
      ['abuse-reports', '/abuse-reports', 'Abuse reports', 'onerror'],
      ['verifications', '/verifications', 'Verifications', 'onerror'],
      ['reviews', '/reviews', 'Reviews', 'onerror'],
      ['requests', '/requests', 'Agent requests', 'onerror'],
      ['developers', '/developers', 'Developers', /@/],
      ['workspaces', '/workspaces', 'Workspaces', who.workspace.name],
      ['runs', '/runs', 'Runs', 'vendor.agent'],
      ['audit', '/audit', 'Audit log', 'Admin created'],
      ['health', '/health', 'Health', 'Dead letters'],
      ['export', '/export', 'Export', 'Download records as CSV'],
      ['settings', '/settings', 'Settings', 'Blocked for all agents'],
      ['account', '/account', 'Your account', 'Superadmin'],
      ['staff', '/admins', 'Staff accounts', 'admin@example.com'],
      ['more', '/more', 'More', 'Sign out'],
      ['nowhere', '/nowhere', 'Page not found', 'This page doesn’t exist'],
    ])
  })
})
