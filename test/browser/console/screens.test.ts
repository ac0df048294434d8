import { describe, expect, it } from 'vitest'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { consoleStage, expectScreens, openAs, type Person, person, type Stage } from './harness.ts'

const stage = consoleStage()

/** Text with markup and a direction override, which must be shown as plain text. */
/** Names take no direction characters. Other texts do. */
const EVIL_NAME = '<img src=x onerror=alert(1)>"\'&'
const EVIL = `\u202e${EVIL_NAME}`

/** Creates a workspace with records of every kind. */
const livelyWorkspace = async ({ platform, agent }: Stage): Promise<{ who: Person; ids: Record<string, string> }> => {
  const who = await person(stage)
  const { token } = who
  const call = (method: string, path: string, body?: unknown) => succeeded(platform.call(method, path, { token, body }))
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { app: shown } = await listApp(platform, { name: `Shop ${EVIL_NAME}`, summary: EVIL })
  const { body: started } = await platform.call('POST', '/api/v1/runs', {
    token: app.token,
    body: { input: { question: EVIL } },
  })
  await expect.poll(async () => (await call('GET', `/console/runs/${started.id}`)).status).toBe('running')
  const callback = await callbackToken(platform.deps, app, started.id)
  await platform.call('POST', `/api/v1/runs/${started.id}/steps`, {
    token: callback,
    body: { type: 'message', output: { text: EVIL, more: { deep: EVIL } } },
  })
  await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: callback,
    body: {
      arguments: { url: 'https://example.com/?x=<b>', headers: { 'x-note': EVIL.slice(0, 20) } },
      run_id: started.id,
    },
  })
  const task = await call('POST', '/console/tasks', {
    title: EVIL,
    description: `${EVIL}\nsecond line`,
    installation_id: app.installation.id,
  })
  await call('POST', '/console/tasks', { title: 'Order paper', description: '' })
  await platform.call('POST', `/api/v1/tasks/${task.id}/question`, {
    token: app.token,
    body: { text: `Which? ${EVIL}` },
  })
  await platform.call('POST', '/api/v1/tools/notify_user/invoke', {
    token: app.token,
    body: { arguments: { title: EVIL, body: EVIL } },
  })
  const chat = await call('POST', '/console/conversations', { installation_id: app.installation.id })
  await call('POST', `/console/conversations/${chat.id}/messages`, { text: EVIL })
  await call('POST', '/console/files', { name: 'report <b>.txt', content_type: 'text/plain', content: 'hello' })
  await call('POST', '/console/files', { kind: 'folder', name: '<i>Folder</i>'.replaceAll('/', '-') })
  await call('POST', '/console/agent-requests', { title: 'An agent that waters plants', description: EVIL })
  await call('POST', '/console/invitations', {})
  await call('PUT', `/console/apps/${app.app.id}/review`, { rating: 4, text: EVIL })
  return {
    who,
    ids: { run: started.id, task: task.id, installation: app.installation.id, chat: chat.id, slug: shown.slug },
  }
}

describe('every screen of the console', () => {
  it('is accessible in both colour schemes, narrow and wide, and shows untrusted text as plain text', async () => {
    const { page } = stage
    const { who, ids } = await livelyWorkspace(stage)
    await openAs(stage, who)
    await expectScreens(page, '', [
      ['home', '/', 'Home', 'POST to'],
      ['runs', '/runs', 'Runs', 'Agent '],
      ['run', `/runs/${ids.run}`, /^Run of/, 'Approve'],
      ['tasks', '/tasks', 'Tasks', 'Order paper'],
      ['task', `/tasks/${ids.task}`, /onerror/, 'Which?'],
      ['chat', '/chat', 'Conversations', 'Main conversation'],
      ['chat-agent', `/chat/${ids.chat}`, 'Conversations', 'working on it'],
      ['agents', '/agents', 'Agents', 'vendor.agent'],
      ['agent', `/agents/${ids.installation}`, /^Agent /, 'Uninstall'],
      ['marketplace', '/marketplace', 'Marketplace', 'Shop'],
      ['app', `/marketplace/${ids.slug}`, /^Shop/, 'Install Shop'],
      ['files', '/files', 'Files', 'report'],
      ['messenger', '/messenger', 'Messenger', 'No accounts connected'],
      ['notifications', '/notifications', 'Notifications', 'onerror'],
      ['access', '/access', 'Connected apps', 'Revoke access'],
      ['wishlist', '/wishlist', 'Agent requests', 'waters plants'],
      ['members', '/members', 'Members', 'Pending invitations'],
      ['settings', '/settings', 'Settings', 'Workspace restrictions'],
      ['audit', '/audit', 'Audit log', 'created the invitation'],
      ['more', '/more', 'More', 'Sign out'],
      ['nowhere', '/nowhere', 'Page not found', 'This page doesn’t exist'],
    ])
  })
})
