import { SubscriptionEntity } from '#shared/entities/webhooks.ts'
import { newId } from '#shared/kernel/ids.ts'
import { unique } from '#test/functions/developer/support.ts'
import { REDIRECT } from '#test/functions/oauth/support.ts'
import { TEST_BOT } from '#test/support/platform.ts'
import type { Stage } from './stage.ts'

/** One valid call of an endpoint. */
export interface Sample {
  path: string
  token?: string
  headers?: Record<string, string>
  body?: unknown
  /** The call waits until workers have done something. */
  works?: true
}

const ADMIN = { 'x-admin-key': 'local-admin-key' }
const APPLICATION = {
  legal_name: 'Example Ltd',
  website: 'https://example.com/',
  contact_email: 'legal@example.com',
  country: 'NL',
  about: 'We build agents.',
}
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const fixed =
  (path: string, rest: Omit<Sample, 'path'> = {}) =>
  async (): Promise<Sample> => ({ path, ...rest })

/** Parameters that redeem a fresh code. */
const redemption = async (stage: Stage) => {
  const client = await stage.integration()
  const { code, verifier } = await stage.actors.consented(client.app)
  return {
    grant_type: 'authorization_code',
    client_id: client.app.id,
    client_secret: client.clientSecret,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT,
  }
}

/** A client presents an access token of its own. */
const presented = (path: string, client: Awaited<ReturnType<Stage['actors']['connected']>>): Sample => ({
  path,
  headers: FORM,
  body: new URLSearchParams({
    client_id: client.app.id,
    client_secret: client.clientSecret,
    token: client.tokens.access_token,
  }).toString(),
})

const asked = async (stage: Stage) => {
  const { app } = await stage.integration()
  const tg = await stage.actors.link(app, { code_challenge: stage.pkce().challenge })
  return { tg, person: await stage.actors.signIn() }
}

const invited = async (stage: Stage) => {
  const { token } = (await stage.integration()).person
  const { body } = await stage.platform.call('POST', '/console/invitations', { token, body: {} })
  return { token, id: body.id as string }
}

const suspended = async (stage: Stage): Promise<string> => {
  const { app } = await stage.inReview()
  await stage.platform.call('POST', `/admin/apps/${app.id}/suspend`, { headers: ADMIN, body: { reason: 'Checks.' } })
  return app.id
}

/** An account of the platform's staff, made afresh. */
const staff = async ({ platform }: Stage, role: 'superadmin' | 'moderator' = 'moderator') => {
  const password = 'a moderator’s password'
  const body = { email: `${unique('mo')}@example.com`, name: 'Mo', role, password }
  const { body: admin } = await platform.call('POST', '/admin/admins', { headers: ADMIN, body })
  return { id: admin.id as string, email: admin.email as string, password }
}

const withKey = async (stage: Stage) => {
  const { id } = await staff(stage)
  const path = `/admin/admins/${id}/keys`
  const { body } = await stage.platform.call('POST', path, { headers: ADMIN, body: { name: 'ci' } })
  return { path, key: body.id as string }
}

const developerId = async (stage: Stage): Promise<string> => {
  const { headers } = await stage.developer()
  return (await stage.platform.call('GET', '/api/v1/dev/me', { headers })).body.id
}

/** A version that waits for moderation: the path of its app and of itself. */
const waitingVersion = async (stage: Stage): Promise<string> => {
  const { app, owner } = await stage.listed()
  const { body: newest } = await owner.call('GET', `/api/v1/dev/apps/${app.id}/versions`)
  const manifest = { ...newest.items[0].manifest, version: '1.1.0' }
  const { body } = await owner.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifest)
  return `${app.id}/versions/${body.id}`
}

/** An open application for the verified badge. */
const applied = async (stage: Stage): Promise<string> => {
  const { owner } = await stage.submittable()
  return (await owner.call('POST', '/api/v1/dev/verification', APPLICATION)).body.id
}

/** A valid call for every endpoint, by its id; each makes the state that it needs afresh. */
export const samples: Record<string, (stage: Stage) => Promise<Sample>> = {
  'oauth.authorize.begin': async (stage) => {
    const { app } = await stage.integration()
    const query = new URLSearchParams({
      client_id: app.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: stage.pkce().challenge,
      code_challenge_method: 'S256',
    })
    return { path: `/oauth/authorize?${query}` }
  },
  'oauth.token.form': async (stage) => ({
    path: '/oauth/token',
    headers: FORM,
    body: new URLSearchParams(await redemption(stage)).toString(),
  }),
  'oauth.token.json': async (stage) => ({ path: '/oauth/token.json', body: await redemption(stage) }),
  'oauth.token.revoke': async (stage) => presented('/oauth/revoke', await stage.actors.connected()),
  'oauth.token.introspect': async (stage) => presented('/oauth/introspect', await stage.actors.connected()),
  'oauth.scopes.list': fixed('/oauth/scopes'),
  'oauth.metadata.read': fixed('/oauth/metadata'),
  'oauth.consent.page': fixed('/oauth/consent?tg=nonce'),
  'oauth.consent.miniApp': fixed('/oauth/consent/mini-app?tg=nonce'),
  'oauth.consent.status': async (stage) => ({ path: `/oauth/consent/status?tg=${(await asked(stage)).tg}` }),
  'oauth.consent.read': async (stage) => {
    const { tg, person } = await asked(stage)
    return { path: `/oauth/consent/request?tg=${tg}`, token: person.token }
  },
  'oauth.consent.decide': async (stage) => {
    const { tg, person } = await asked(stage)
    return {
      path: '/oauth/consent/decision',
      token: person.token,
      body: { tg, decision: 'approve', workspace_id: person.workspace.id },
    }
  },

  'api.me.read': async (stage) => ({ path: '/api/v1/me', token: (await stage.integration()).token }),
  'api.manifest.read': async (stage) => ({ path: '/api/v1/manifest', token: (await stage.integration()).token }),
  'api.runs.start': async (stage) => ({
    path: '/api/v1/runs',
    token: (await stage.integration()).token,
    body: { input: { question: 'How many?' }, trigger: 'test' },
  }),
  'api.runs.list': async (stage) => ({ path: '/api/v1/runs', token: (await stage.running()).app.token }),
  'api.runs.read': async (stage) => {
    const { run, callback } = await stage.running()
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/steps`, { token: callback, body: { type: 'message' } })
    return { path: `/api/v1/runs/${run.id}`, token: callback }
  },
  'api.runs.stream': async (stage) => {
    const { run, callback } = await stage.running()
    const body = { status: 'succeeded', steps: [{ type: 'message' }] }
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token: callback, body })
    return { path: `/api/v1/runs/${run.id}/stream`, token: callback }
  },
  'api.runs.renewCallbackToken': async (stage) => {
    const { run, callback } = await stage.running()
    return { path: `/api/v1/runs/${run.id}/callback-token`, token: callback }
  },
  'api.runs.cancel': async (stage) => {
    const { app, run } = await stage.running()
    return { path: `/api/v1/runs/${run.id}/cancel`, token: app.token }
  },
  'api.runs.complete': async (stage) => {
    const { run, callback } = await stage.running()
    const body = { status: 'succeeded', output: { n: 1 }, steps: [{ type: 'message' }], cost_units: 2 }
    return { path: `/api/v1/runs/${run.id}/complete`, token: callback, body }
  },
  'api.runs.addSteps': async (stage) => {
    const { run, callback } = await stage.running()
    return {
      path: `/api/v1/runs/${run.id}/steps`,
      token: callback,
      body: { steps: [{ type: 'message', output: { text: 'hi' } }, { type: 'looking' }] },
    }
  },
  'api.tools.list': async (stage) => ({ path: '/api/v1/tools', token: (await stage.integration()).token }),
  'api.tools.invoke': async (stage) => {
    const { callback } = await stage.running()
    const body = { arguments: { type: 'order.paid', data: { n: 1 } } }
    return { path: '/api/v1/tools/emit_event/invoke', token: callback, body }
  },
  'api.files.create': async (stage) => ({
    path: '/api/v1/files',
    token: (await stage.integration()).token,
    body: { name: 'report.csv', content_type: 'text/csv', content: 'name,phone' },
  }),
  'api.files.list': async (stage) => ({ path: '/api/v1/files', token: (await stage.filed()).token }),
  'api.files.read': async (stage) => {
    const { token, file } = await stage.filed()
    return { path: `/api/v1/files/${file.id}`, token }
  },
  'api.files.delete': async (stage) => {
    const { token, file } = await stage.filed()
    return { path: `/api/v1/files/${file.id}`, token }
  },

  'api.tasks.list': async (stage) => ({ path: '/api/v1/tasks', token: (await stage.tasked()).app.token }),
  'api.tasks.read': async (stage) => {
    const { app, task } = await stage.tasked()
    const body = { text: 'Which of the two?' }
    await stage.platform.call('POST', `/api/v1/tasks/${task.id}/question`, { token: app.token, body })
    return { path: `/api/v1/tasks/${task.id}`, token: app.token }
  },
  'api.tasks.progress': async (stage) => {
    const { app, task } = await stage.tasked()
    const body = { text: 'Half of it is counted.', percent: 50 }
    return { path: `/api/v1/tasks/${task.id}/progress`, token: app.token, body }
  },
  'api.tasks.question': async (stage) => {
    const { app, task } = await stage.tasked()
    return { path: `/api/v1/tasks/${task.id}/question`, token: app.token, body: { text: 'Which of the two?' } }
  },
  'api.tasks.report': async (stage) => {
    const { app, task } = await stage.tasked()
    const body = { text: 'Counted.', output: { pieces: 40 } }
    return { path: `/api/v1/tasks/${task.id}/report`, token: app.token, body }
  },
  'api.tasks.setStatus': async (stage) => {
    const { app, task } = await stage.tasked()
    return { path: `/api/v1/tasks/${task.id}/status`, token: app.token, body: { status: 'in_progress' } }
  },

  'api.events.list': async (stage) => ({ path: '/api/v1/events', token: (await stage.subscribed()).app.token }),

  'api.webhooks.create': async (stage) => ({
    path: '/api/v1/webhooks',
    token: (await stage.integration()).token,
    body: { url: stage.hooks.url, events: ['run.*'], description: 'Runs' },
  }),
  'api.webhooks.list': async (stage) => ({ path: '/api/v1/webhooks', token: (await stage.subscribed()).app.token }),
  'api.webhooks.listDeliveries': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    return { path: `/api/v1/webhooks/${webhook.id}/deliveries`, token: app.token }
  },
  'api.webhooks.enable': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    const key = { installation_id: app.installation.id, id: webhook.id }
    const set = { status: 'disabled' as const, last_error: 'HTTP 500', disabled_at: stage.platform.clock.now() }
    await stage.platform.deps.table.transact([SubscriptionEntity.update(key, { set })])
    return { path: `/api/v1/webhooks/${webhook.id}/enable`, token: app.token }
  },
  'api.webhooks.recover': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    const body = { since: '2026-01-01T00:00:00.000+00:00' }
    return { path: `/api/v1/webhooks/${webhook.id}/recover`, token: app.token, body }
  },
  'api.webhooks.redeliver': async (stage) => {
    const { app, webhook, delivery } = await stage.subscribed()
    return { path: `/api/v1/webhooks/${webhook.id}/deliveries/${delivery.id}/redeliver`, token: app.token }
  },
  'api.webhooks.rotateSecret': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    return { path: `/api/v1/webhooks/${webhook.id}/rotate-secret`, token: app.token }
  },
  'api.webhooks.test': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    return { path: `/api/v1/webhooks/${webhook.id}/test`, token: app.token }
  },
  'api.webhooks.delete': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    return { path: `/api/v1/webhooks/${webhook.id}`, token: app.token }
  },

  'console.session.provision': async () => ({
    path: '/console/session',
    body: { user: unique('ann'), workspace: unique('acme'), role: 'admin' },
  }),
  'console.session.end': async (stage) => ({ path: '/console/session', token: (await stage.actors.signIn()).token }),
  'console.session.switchWorkspace': async (stage) => {
    const { token, workspace } = await stage.actors.signIn()
    return { path: '/console/session/workspace', token, body: { workspace_id: workspace.id } }
  },
  'console.me.read': async (stage) => ({ path: '/console/me', token: (await stage.actors.signIn()).token }),
  'console.bot.webAppAuth': async ({ telegram }) => ({
    path: '/console/bot/webapp-auth',
    body: { init_data: telegram.initData(telegram.person({ first_name: unique('ann') })) },
  }),
  'console.bot.widgetAuth': async ({ telegram }) => ({
    path: '/console/bot/widget-auth',
    body: { ...telegram.widget(telegram.person({ first_name: unique('ann') })) },
  }),
  'console.bot.info': fixed('/console/bot/info'),
  'console.bot.receiveUpdate': async ({ telegram }) => {
    const from = telegram.person({ first_name: unique('ann') })
    const message = { message_id: 1, date: 1, chat: { id: from.id, type: 'private' }, from, text: '/start' }
    return {
      path: '/console/bot/webhook',
      headers: { 'x-telegram-bot-api-secret-token': TEST_BOT.webhookSecret },
      body: { update_id: from.id, message },
    }
  },
  'console.installations.list': async (stage) => ({
    path: '/console/installations',
    token: (await stage.integration()).person.token,
  }),
  'console.installations.add': async (stage) => {
    const { app } = await stage.inReview()
    await stage.platform.call('POST', `/admin/apps/${app.id}/approve`, { headers: ADMIN })
    const { token } = await stage.actors.signIn()
    return { path: '/console/installations', token, body: { slug: app.slug, scopes: ['runs:write'] } }
  },
  'console.installations.get': async (stage) => {
    const { installation, person } = await stage.integration()
    return { path: `/console/installations/${installation.id}`, token: person.token }
  },
  'console.installations.remove': async (stage) => {
    const { installation, person } = await stage.integration()
    return { path: `/console/installations/${installation.id}`, token: person.token }
  },
  'console.installations.upgrade': async (stage) => {
    const { installation, person } = await stage.integration()
    return { path: `/console/installations/${installation.id}/upgrade`, token: person.token, body: {} }
  },
  'console.installations.getSettings': async (stage) => {
    const { installation, person } = await stage.integration()
    return { path: `/console/installations/${installation.id}/settings`, token: person.token }
  },
  'console.installations.setSettings': async (stage) => {
    const { installation, person } = await stage.integration()
    return { path: `/console/installations/${installation.id}/settings`, token: person.token, body: { values: {} } }
  },
  'console.marketplace.list': async (stage) => {
    const { app } = await stage.inReview()
    await stage.platform.call('POST', `/admin/apps/${app.id}/approve`, { headers: ADMIN })
    return { path: '/console/marketplace', token: (await stage.actors.signIn()).token }
  },
  'console.install.get': async (stage) => {
    const { app } = await stage.inReview()
    await stage.platform.call('POST', `/admin/apps/${app.id}/approve`, { headers: ADMIN })
    return { path: `/console/install/${app.slug}`, token: (await stage.actors.signIn()).token }
  },
  'console.installations.surfaceToken': async (stage) => {
    const { installation, person } = await stage.integration()
    return { path: `/console/installations/${installation.id}/surface-token`, token: person.token }
  },
  'console.installations.setPolicy': async (stage) => {
    const { installation, person } = await stage.integration()
    return {
      path: `/console/installations/${installation.id}/policy`,
      token: person.token,
      body: { allowed_callers: ['stock-helper'], denied_tools: ['http_fetch'] },
    }
  },
  'console.settings.setCrossAgent': async (stage) => ({
    path: '/console/settings/cross-agent',
    token: (await stage.integration()).person.token,
    body: { enabled: false },
  }),
  'console.settings.setBans': async (stage) => ({
    path: '/console/settings/bans',
    token: (await stage.integration()).person.token,
    body: { denied_tools: ['http_fetch'], denied_scopes: ['chat:write'] },
  }),
  'console.grants.list': async (stage) => ({
    path: '/console/grants',
    token: (await stage.integration()).person.token,
  }),
  'console.grants.revoke': async (stage) => {
    const { grant, person } = await stage.integration()
    return { path: `/console/grants/${grant.id}`, token: person.token }
  },
  'console.members.list': async (stage) => ({
    path: '/console/members',
    token: (await stage.integration()).person.token,
  }),
  'console.members.changeRole': async (stage) => {
    const { workspaceId, person } = await stage.integration()
    const { user } = await stage.member(workspaceId)
    return { path: `/console/members/${user.id}`, token: person.token, body: { role: 'member' } }
  },
  'console.members.remove': async (stage) => {
    const { workspaceId, person } = await stage.integration()
    const { user } = await stage.member(workspaceId)
    return { path: `/console/members/${user.id}`, token: person.token }
  },
  'console.invitations.create': async (stage) => ({
    path: '/console/invitations',
    token: (await stage.integration()).person.token,
    body: { role: 'admin', expires_in: 3_600 },
  }),
  'console.invitations.list': async (stage) => ({ path: '/console/invitations', token: (await invited(stage)).token }),
  'console.invitations.revoke': async (stage) => {
    const { token, id } = await invited(stage)
    return { path: `/console/invitations/${id}`, token }
  },
  'console.agentRequests.list': async (stage) => {
    const { token } = await stage.wished()
    return { path: '/console/agent-requests', token }
  },
  'console.agentRequests.create': async (stage) => ({
    path: '/console/agent-requests',
    token: (await stage.actors.signIn()).token,
    body: { title: 'Counts the stock', description: 'Every evening.' },
  }),
  'console.agentRequests.vote': async (stage) => {
    const { id, token } = await stage.wished()
    return { path: `/console/agent-requests/${id}/vote`, token }
  },
  'console.agentRequests.unvote': async (stage) => {
    const { id, token } = await stage.wished()
    await stage.platform.call('POST', `/console/agent-requests/${id}/vote`, { token })
    return { path: `/console/agent-requests/${id}/vote`, token }
  },
  'console.abuseReports.create': async (stage) => {
    const { app, person } = await stage.integration()
    return {
      path: '/console/abuse-reports',
      token: person.token,
      body: { app_id: app.id, category: 'misleading', text: 'It asks for passwords.' },
    }
  },
  'console.me.edit': async (stage) => ({
    path: '/console/me',
    token: (await stage.actors.signIn()).token,
    body: { locale: 'de-CH', time_zone: 'Europe/Zurich' },
  }),
  'console.me.delete': async (stage) => ({ path: '/console/me', token: (await stage.actors.signIn()).token }),
  'console.workspace.edit': async (stage) => ({
    path: '/console/workspace',
    token: (await stage.actors.signIn()).token,
    body: { name: 'Acme', time_zone: 'Europe/Zurich' },
  }),
  'console.workspace.delete': async (stage) => ({
    path: '/console/workspace',
    token: (await stage.actors.signIn()).token,
  }),
  'console.workspace.leave': async (stage) => {
    const { workspace } = await stage.actors.signIn()
    const { token } = await stage.member(workspace.id)
    return { path: '/console/workspace/membership', token }
  },
  'console.workspace.restore': async (stage) => {
    const { token } = await stage.actors.signIn()
    await stage.platform.call('DELETE', '/console/workspace', { token })
    return { path: '/console/workspace/restore', token }
  },
  'admin.admins.list': async (stage) => {
    await staff(stage)
    return { path: '/admin/admins', headers: ADMIN }
  },
  'admin.admins.create': async () => ({
    path: '/admin/admins',
    headers: ADMIN,
    body: { email: `${unique('mo')}@example.com`, name: 'Mo', role: 'moderator', password: 'a moderator’s password' },
  }),
  'admin.admins.edit': async (stage) => ({
    path: `/admin/admins/${(await staff(stage)).id}`,
    headers: ADMIN,
    body: { name: 'Maud', role: 'superadmin' },
  }),
  'admin.admins.delete': async (stage) => ({ path: `/admin/admins/${(await staff(stage)).id}`, headers: ADMIN }),
  'admin.keys.list': async (stage) => ({ path: (await withKey(stage)).path, headers: ADMIN }),
  'admin.keys.create': async (stage) => ({
    path: `/admin/admins/${(await staff(stage)).id}/keys`,
    headers: ADMIN,
    body: { name: 'ci', expires_in_days: 30 },
  }),
  'admin.keys.rotate': async (stage) => {
    const { path, key } = await withKey(stage)
    return { path: `${path}/${key}/rotate`, headers: ADMIN, body: { expires_in_days: 30 } }
  },
  'admin.keys.delete': async (stage) => {
    const { path, key } = await withKey(stage)
    return { path: `${path}/${key}`, headers: ADMIN }
  },
  'admin.account.changePassword': async (stage) => {
    const { id, password } = await staff(stage)
    // With a key: a session ends by it, and could not ask for a lost answer again.
    const { body } = await stage.platform.call('POST', `/admin/admins/${id}/keys`, {
      headers: ADMIN,
      body: { name: 'ci' },
    })
    const change = { current_password: password, new_password: 'another good password' }
    return { path: '/admin/me/password', headers: { 'x-admin-key': body.key }, body: change }
  },
  'admin.developers.list': async (stage) => {
    await stage.developer()
    return { path: '/admin/developers', headers: ADMIN }
  },
  'admin.developers.verify': async (stage) => ({
    path: `/admin/developers/${await developerId(stage)}/verify`,
    headers: ADMIN,
  }),
  'admin.developers.block': async (stage) => ({
    path: `/admin/developers/${await developerId(stage)}/block`,
    headers: ADMIN,
    body: { reason: 'Spam.' },
  }),
  'admin.developers.unblock': async (stage) => {
    const path = `/admin/developers/${await developerId(stage)}`
    await stage.platform.call('POST', `${path}/block`, { headers: ADMIN, body: { reason: 'Spam.' } })
    return { path: `${path}/unblock`, headers: ADMIN }
  },
  'admin.workspaces.list': async (stage) => {
    await stage.actors.signIn()
    return { path: '/admin/workspaces', headers: ADMIN }
  },
  'admin.workspaces.setStatus': async (stage) => ({
    path: `/admin/workspaces/${(await stage.actors.signIn()).workspace.id}/status`,
    headers: ADMIN,
    body: { status: 'suspended', reason: 'Unpaid.' },
  }),
  'admin.installations.setStatus': async (stage) => ({
    path: `/admin/installations/${(await stage.integration()).installation.id}/status`,
    headers: ADMIN,
    body: { status: 'suspended', reason: 'Too loud.' },
  }),
  'admin.audit.list': async (stage) => {
    await staff(stage)
    return { path: '/admin/audit', headers: ADMIN }
  },
  'admin.overview.read': fixed('/admin/overview', { headers: ADMIN }),
  'admin.metrics.read': fixed('/admin/metrics?days=2&tz=Europe/Zurich', { headers: ADMIN }),
  'admin.health.read': fixed('/admin/health', { headers: ADMIN }),
  'admin.runs.list': async (stage) => {
    await stage.running()
    return { path: '/admin/runs', headers: ADMIN }
  },
  'admin.export.read': fixed('/admin/export/apps?since=2026-11-01T00:00:00.000Z', { headers: ADMIN }),
  'admin.requests.list': async (stage) => {
    await stage.wished()
    return { path: '/admin/requests', headers: ADMIN }
  },
  'admin.requests.setStatus': async (stage) => ({
    path: `/admin/agent-requests/${(await stage.wished()).id}/status`,
    headers: ADMIN,
    body: { status: 'declined', reason: 'There is one already.' },
  }),
  'admin.abuseReports.list': async (stage) => {
    await stage.complained()
    return { path: '/admin/abuse-reports', headers: ADMIN }
  },
  'admin.abuseReports.resolve': async (stage) => ({
    path: `/admin/abuse-reports/${await stage.complained()}/resolve`,
    headers: ADMIN,
    body: { resolution: 'dismissed', reason: 'It is a misunderstanding.' },
  }),
  'console.tasks.list': async (stage) => ({
    path: '/console/tasks',
    token: (await stage.tasked()).app.person.token,
  }),
  'console.tasks.create': async (stage) => {
    const { installation, person } = await stage.integration()
    const body = { title: 'Count the stock', description: 'All of it.', installation_id: installation.id }
    return { path: '/console/tasks', token: person.token, body }
  },
  'console.tasks.read': async (stage) => {
    const { app, task } = await stage.tasked()
    return { path: `/console/tasks/${task.id}`, token: app.person.token }
  },
  'console.tasks.edit': async (stage) => {
    const { app, task } = await stage.tasked()
    const body = { title: 'Count it again', status: 'done', installation_id: null }
    return { path: `/console/tasks/${task.id}`, token: app.person.token, body }
  },
  'console.tasks.run': async (stage) => {
    const { app, task } = await stage.tasked()
    return { path: `/console/tasks/${task.id}/run`, token: app.person.token, body: {} }
  },
  'console.tasks.answer': async (stage) => {
    const { app, task } = await stage.tasked()
    const question = { token: app.token, body: { text: 'Which of the two?' } }
    await stage.platform.call('POST', `/api/v1/tasks/${task.id}/question`, question)
    stage.platform.clock.advance(1_000)
    return { path: `/console/tasks/${task.id}/messages`, token: app.person.token, body: { text: 'The first.' } }
  },
  'console.files.list': async (stage) => ({ path: '/console/files', token: (await stage.filed()).personToken }),
  'console.files.create': async (stage) => ({
    path: '/console/files',
    token: (await stage.integration()).person.token,
    body: { name: 'report.csv', content_type: 'text/csv', content: 'name,phone' },
  }),
  'console.files.download': async (stage) => {
    const { personToken, file } = await stage.filed()
    return { path: `/console/files/${file.id}/download`, token: personToken }
  },
  'console.files.delete': async (stage) => {
    const { personToken, file } = await stage.filed()
    return { path: `/console/files/${file.id}`, token: personToken }
  },
  'console.agents.list': async (stage) => ({
    path: '/console/agents',
    token: (await stage.integration()).person.token,
  }),
  'console.audit.list': async (stage) => {
    const { installation, person } = await stage.integration()
    const policy = { token: person.token, body: { denied_tools: ['http_fetch'] } }
    await stage.platform.call('PUT', `/console/installations/${installation.id}/policy`, policy)
    return { path: '/console/audit', token: person.token }
  },
  'console.analytics.read': async (stage) => {
    const { app } = await stage.running()
    return { path: '/console/analytics?days=2&tz=Europe/Zurich', token: app.person.token }
  },
  'console.updates.read': async (stage) => {
    const { app } = await stage.awaiting()
    await stage.platform.drain()
    // The first look after something new counts what is unread; this is one of the many after it.
    stage.platform.clock.advance(10_000)
    await stage.platform.call('GET', '/console/updates', { token: app.person.token })
    return { path: '/console/updates', token: app.person.token }
  },
  'console.notifications.list': async (stage) => {
    const { app } = await stage.awaiting()
    await stage.platform.drain()
    return { path: '/console/notifications', token: app.person.token }
  },
  'console.notifications.markRead': async (stage) => {
    const { app } = await stage.awaiting()
    await stage.platform.drain()
    return { path: '/console/notifications/read', token: app.person.token, body: { all: true } }
  },
  'console.notifications.readPreferences': async (stage) => ({
    path: '/console/notifications/preferences',
    token: (await stage.integration()).person.token,
  }),
  'console.notifications.setPreferences': async (stage) => ({
    path: '/console/notifications/preferences',
    token: (await stage.integration()).person.token,
    body: { messaging_app: { muted: false, off: ['agent.notice'], muted_until: '2099-01-01T00:00:00.000+00:00' } },
  }),
  'console.runs.list': async (stage) => ({ path: '/console/runs', token: (await stage.running()).app.person.token }),
  'console.runs.read': async (stage) => {
    const { app, run } = await stage.awaiting()
    return { path: `/console/runs/${run.id}`, token: app.person.token }
  },
  'console.runs.stream': async (stage) => {
    const { app, run } = await stage.running()
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
    return { path: `/console/runs/${run.id}/stream`, token: app.person.token }
  },
  'console.runs.decide': async (stage) => {
    const { app, run, step } = await stage.awaiting()
    const body = { decision: 'approve', comment: 'Go on.' }
    return { path: `/console/runs/${run.id}/steps/${step}/decision`, token: app.person.token, body }
  },

  'developer.account.register': async () => ({
    path: '/api/v1/dev/register',
    body: { email: `${unique('sample')}@example.com`, name: 'Ada', company: 'Example Ltd' },
  }),
  'developer.account.read': async (stage) => ({ path: '/api/v1/dev/me', headers: (await stage.developer()).headers }),
  'developer.apps.create': async (stage) => {
    const { headers } = await stage.developer()
    const body = { slug: unique('sample'), name: 'Sample', type: 'agent', requested_scopes: ['runs:write'] }
    return { path: '/api/v1/dev/apps', headers, body }
  },
  'developer.apps.list': async (stage) => ({ path: '/api/v1/dev/apps', headers: (await stage.developer()).headers }),
  'developer.apps.read': async (stage) => {
    const { app, headers } = await stage.submittable()
    return { path: `/api/v1/dev/apps/${app.id}`, headers }
  },
  'developer.apps.edit': async (stage) => {
    const { app, headers } = await stage.developer()
    return {
      path: `/api/v1/dev/apps/${app.id}`,
      headers,
      body: { name: 'Renamed', homepage_url: 'https://example.com/' },
    }
  },
  'developer.apps.submit': async (stage) => {
    const { app, headers } = await stage.submittable()
    return { path: `/api/v1/dev/apps/${app.id}/submit`, headers }
  },
  'developer.apps.rotateSecret': async (stage) => {
    const { app, headers } = await stage.developer()
    return { path: `/api/v1/dev/apps/${app.id}/rotate-secret`, headers }
  },
  'developer.account.rotateKey': async (stage) => ({
    path: '/api/v1/dev/me/rotate-key',
    headers: (await stage.developer()).headers,
  }),
  'developer.apps.rotateSigningSecret': async (stage) => {
    const { app, headers } = await stage.developer()
    return { path: `/api/v1/dev/apps/${app.id}/rotate-signing-secret`, headers, body: { overlap_hours: 24 } }
  },
  'developer.apps.sandboxToken': async (stage) => {
    const { app, headers } = await stage.published()
    return { path: `/api/v1/dev/apps/${app.id}/sandbox-token`, headers }
  },
  'developer.sandbox.invite': async (stage) => ({
    path: '/api/v1/dev/sandbox/invite',
    headers: (await stage.developer()).headers,
  }),
  'developer.listen.stream': async (stage) => {
    const { app, headers } = await stage.developer()
    return { path: `/api/v1/dev/listen?app_id=${app.id}`, headers }
  },
  'developer.listen.end': async (stage) => {
    const { app, headers } = await stage.developer()
    const listener = newId('listener', stage.platform.clock.now())
    return { path: `/api/v1/dev/listen?app_id=${app.id}&listener=${listener}`, headers }
  },
  'developer.listen.answer': async (stage) => {
    const { request, headers } = await stage.listened()
    return { path: `/api/v1/dev/listen/${request}/answer`, headers, body: { status: 200, body: '{}' } }
  },
  'developer.sandbox.trigger': async (stage) => {
    const { app, headers } = await stage.published()
    return { path: '/api/v1/dev/sandbox/trigger', headers, body: { app_id: app.id, type: 'run.succeeded' } }
  },
  'developer.sandbox.seed': async (stage) => ({
    path: '/api/v1/dev/sandbox/seed',
    headers: (await stage.listed()).headers,
  }),
  'developer.sandbox.unseed': async (stage) => {
    const { owner, headers } = await stage.listed()
    await owner.call('POST', '/api/v1/dev/sandbox/seed')
    return { path: '/api/v1/dev/sandbox/seed', headers }
  },
  'developer.verification.read': async (stage) => {
    const { owner, headers } = await stage.developer()
    await owner.call('POST', '/api/v1/dev/verification', APPLICATION)
    return { path: '/api/v1/dev/verification', headers }
  },
  'developer.verification.apply': async (stage) => {
    const { headers } = await stage.developer()
    return { path: '/api/v1/dev/verification', headers, body: { ...APPLICATION, registration_number: '12345678' } }
  },
  'developer.apps.messages.list': async (stage) => {
    const { owner, app, headers } = await stage.developer()
    const path = `/api/v1/dev/apps/${app.id}/messages`
    await owner.call('POST', path, { text: 'Which policy counts?' })
    return { path, headers }
  },
  'developer.apps.messages.write': async (stage) => {
    const { app, headers } = await stage.developer()
    return { path: `/api/v1/dev/apps/${app.id}/messages`, headers, body: { text: 'Which policy counts?' } }
  },
  'developer.requests.list': async (stage) => {
    const { headers } = await stage.developer()
    await stage.wished()
    return { path: '/api/v1/dev/requests?limit=100', headers }
  },
  'developer.requests.claim': async (stage) => {
    const { headers } = await stage.developer()
    return { path: `/api/v1/dev/requests/${(await stage.wished()).id}/claim`, headers }
  },
  'developer.reviews.list': async (stage) => ({
    path: '/api/v1/dev/reviews?unanswered=true',
    headers: (await stage.reviewed()).headers,
  }),
  'developer.apps.reviews.list': async (stage) => {
    const { app, headers } = await stage.reviewed()
    return { path: `/api/v1/dev/apps/${app.id}/reviews`, headers }
  },
  'developer.reviews.reply': async (stage) => {
    const { review, headers } = await stage.reviewed()
    return { path: `/api/v1/dev/reviews/${review.id}/reply`, headers, body: { text: 'Thank you.' } }
  },
  'console.reviews.list': async (stage) => {
    const { app, token } = await stage.reviewed()
    return { path: `/console/apps/${app.id}/reviews`, token }
  },
  'console.reviews.write': async (stage) => {
    const { app, person } = await stage.integration()
    return { path: `/console/apps/${app.id}/review`, token: person.token, body: { rating: 4, text: 'Quick.' } }
  },
  'console.reviews.remove': async (stage) => {
    const { app, token } = await stage.reviewed()
    return { path: `/console/apps/${app.id}/review`, token }
  },
  'developer.apps.stats': async (stage) => {
    const { app, headers } = await stage.reviewed()
    return { path: `/api/v1/dev/apps/${app.id}/stats?days=7`, headers }
  },
  'developer.apps.logs': async (stage) => {
    const { app, agentToken: token, headers } = await stage.reviewed()
    const { body: run } = await stage.platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token })
    return { path: `/api/v1/dev/apps/${app.id}/logs`, headers }
  },
  'developer.apps.testRun': async (stage) => {
    const { app, headers } = await stage.published()
    return { path: `/api/v1/dev/apps/${app.id}/test-run`, headers, body: { input: { q: 1 } }, works: true }
  },
  'developer.versions.publish': async (stage) => {
    const { owner, app, headers } = await stage.developer()
    return { path: `/api/v1/dev/apps/${app.id}/versions`, headers, body: stage.manifestFor(owner, app) }
  },
  'developer.versions.list': async (stage) => {
    const { app, headers } = await stage.published()
    return { path: `/api/v1/dev/apps/${app.id}/versions`, headers }
  },
  'developer.versions.promote': async (stage) => {
    const { app, headers } = await stage.published()
    return { path: `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, headers }
  },
  'developer.manifest.validate': async (stage) => {
    const { owner, app } = await stage.developer()
    return { path: '/api/v1/dev/manifest/validate', body: { ...stage.manifestFor(owner, app), version: 'one' } }
  },

  'console.conversations.list': async (stage) => {
    const { token, path } = await stage.chat()
    return { path: path.replace(/\/cnv_.*/, ''), token }
  },
  'console.conversations.open': async (stage) => {
    const { installation, person } = await stage.integration()
    return { path: '/console/conversations', token: person.token, body: { installation_id: installation.id } }
  },
  'console.conversations.messages.list': async (stage) => {
    const { token, path } = await stage.chat()
    await stage.platform.call('POST', path, { token, body: { text: 'Hello.' } })
    return { path, token }
  },
  'console.conversations.messages.write': async (stage) => {
    const { token, path } = await stage.chat()
    return { path, token, body: { text: 'Hello.' } }
  },
  'console.settings.setPrimaryAgent': async (stage) => {
    const { installation, person } = await stage.integration()
    return {
      path: '/console/settings/primary-agent',
      token: person.token,
      body: { installation_id: installation.id },
    }
  },
  'admin.settings.read': fixed('/admin/settings', { headers: ADMIN }),
  'admin.settings.setDeniedTools': fixed('/admin/settings/denied-tools', {
    headers: ADMIN,
    body: { denied_tools: [] },
  }),
  'admin.settings.setPmIdentity': fixed('/admin/settings/pm-identity', { headers: ADMIN, body: { name: 'Ada' } }),
  'api.conversations.list': async (stage) => {
    const { token } = await stage.conversation()
    return { path: '/api/v1/conversations', token }
  },
  'api.conversations.messages.list': async (stage) => {
    const { token, id } = await stage.conversation()
    return { path: `/api/v1/conversations/${id}/messages`, token }
  },
  'api.conversations.messages.write': async (stage) => {
    const { token, id } = await stage.conversation()
    return { path: `/api/v1/conversations/${id}/messages`, token, body: { text: 'Hello.' } }
  },
  'api.members.list': async (stage) => ({ path: '/api/v1/members', token: (await stage.integration()).token }),
  'api.agents.list': async (stage) => ({ path: '/api/v1/agents', token: (await stage.integration()).token }),
  'api.workspace.read': async (stage) => ({ path: '/api/v1/workspace', token: (await stage.integration()).token }),

  'admin.account.signIn': fixed('/admin/auth/login', {
    body: { email: 'admin@example.com', password: 'local-admin-password' },
  }),
  'admin.account.read': fixed('/admin/me', { headers: ADMIN }),
  'admin.review.list': async (stage) => {
    await stage.inReview()
    return { path: '/admin/review', headers: ADMIN }
  },
  'admin.apps.claim': async (stage) => ({
    path: `/admin/apps/${(await stage.inReview()).app.id}/claim`,
    headers: ADMIN,
    body: {},
  }),
  'admin.apps.list': async (stage) => {
    await stage.inReview()
    return { path: '/admin/apps', headers: ADMIN }
  },
  'admin.apps.read': async (stage) => ({ path: `/admin/apps/${(await stage.listed()).app.id}`, headers: ADMIN }),
  'admin.apps.delist': async (stage) => ({
    path: `/admin/apps/${(await stage.listed()).app.id}/delist`,
    headers: ADMIN,
    body: { reason: 'Out of date.' },
  }),
  'admin.apps.curate': async (stage) => ({
    path: `/admin/apps/${(await stage.listed()).app.id}/curation`,
    headers: ADMIN,
    body: { featured: true },
  }),
  'admin.apps.checks': async (stage) => ({
    path: `/admin/apps/${(await stage.inReview()).app.id}/checks`,
    headers: ADMIN,
  }),
  'admin.apps.testInstall': async (stage) => ({
    path: `/admin/apps/${(await stage.inReview()).app.id}/test-install`,
    headers: ADMIN,
    body: { input: {} },
    works: true,
  }),
  'admin.versions.approve': async (stage) => ({
    path: `/admin/apps/${await waitingVersion(stage)}/approve`,
    headers: ADMIN,
  }),
  'admin.versions.reject': async (stage) => ({
    path: `/admin/apps/${await waitingVersion(stage)}/reject`,
    headers: ADMIN,
    body: { reason: 'It asks for too much.' },
  }),
  'admin.appMessages.list': async (stage) => {
    const { id } = (await stage.inReview()).app
    await stage.platform.call('POST', `/admin/apps/${id}/messages`, { headers: ADMIN, body: { text: 'Which?' } })
    return { path: `/admin/apps/${id}/messages`, headers: ADMIN }
  },
  'admin.appMessages.write': async (stage) => ({
    path: `/admin/apps/${(await stage.inReview()).app.id}/messages`,
    headers: ADMIN,
    body: { text: 'Which of the two counts?' },
  }),
  'admin.verifications.list': async (stage) => {
    await applied(stage)
    return { path: '/admin/verifications', headers: ADMIN }
  },
  'admin.verifications.decide': async (stage) => ({
    path: `/admin/verifications/${await applied(stage)}/decide`,
    headers: ADMIN,
    body: { decision: 'approve', reason: 'The register confirms it.' },
  }),
  'admin.reviews.list': async (stage) => {
    await stage.reviewed()
    return { path: '/admin/reviews', headers: ADMIN }
  },
  'admin.reviews.hide': async (stage) => ({
    path: `/admin/reviews/${(await stage.reviewed()).review.id}/hide`,
    headers: ADMIN,
    body: { hidden: true, reason: 'It insults a person.' },
  }),
  'admin.apps.approve': async (stage) => ({
    path: `/admin/apps/${(await stage.inReview()).app.id}/approve`,
    headers: ADMIN,
  }),
  'admin.apps.reject': async (stage) => ({
    path: `/admin/apps/${(await stage.inReview()).app.id}/reject`,
    headers: ADMIN,
    body: { reason: 'The privacy policy is missing.' },
  }),
  'admin.apps.suspend': async (stage) => ({
    path: `/admin/apps/${(await stage.inReview()).app.id}/suspend`,
    headers: ADMIN,
    body: { reason: 'It leaks.' },
  }),
  'admin.apps.unsuspend': async (stage) => ({
    path: `/admin/apps/${await suspended(stage)}/unsuspend`,
    headers: ADMIN,
  }),

  'console.messenger.accounts.list': async ({ messenger }) => ({
    path: '/console/messenger/accounts',
    token: (await messenger.bot()).token,
  }),
  'console.messenger.accounts.connectBot': async (stage) => ({
    path: '/console/messenger/accounts/bot',
    token: (await stage.integration()).person.token,
    body: { token: stage.messenger.newBot().token },
  }),
  'console.messenger.accounts.connectUser': async ({ messenger }) => ({
    path: '/console/messenger/accounts/user',
    token: (await messenger.fromTelegram()).token,
    body: { shared: true },
  }),
  'console.messenger.accounts.share': async ({ messenger, platform }) => {
    const { token } = await messenger.fromTelegram()
    const { body } = await platform.call('POST', '/console/messenger/accounts/user', { token, body: {} })
    return { path: `/console/messenger/accounts/${body.id}`, token, body: { shared: true } }
  },
  'console.messenger.accounts.remove': async ({ messenger }) => {
    const { accountId, token } = await messenger.bot()
    return { path: `/console/messenger/accounts/${accountId}`, token }
  },
  'console.messenger.chats.list': async ({ messenger }) => {
    const { accountId, token } = await messenger.chat()
    return { path: `/console/messenger/chats?account_id=${accountId}`, token }
  },
  'console.messenger.chats.get': async ({ messenger }) => {
    const { chatId, token } = await messenger.chat()
    return { path: `/console/messenger/chats/${chatId}`, token }
  },
  'console.messenger.chats.assign': async ({ messenger }) => {
    const { chatId, token, app } = await messenger.chat()
    return { path: `/console/messenger/chats/${chatId}`, token, body: { installation_id: app.installation.id } }
  },
  'console.messenger.messages.list': async ({ messenger }) => {
    const { chatId, token } = await messenger.chat()
    return { path: `/console/messenger/chats/${chatId}/messages`, token }
  },
  'console.messenger.messages.write': async ({ messenger }) => {
    const { chatId, token } = await messenger.chat()
    return { path: `/console/messenger/chats/${chatId}/messages`, token, body: { text: 'Hello.' } }
  },
  'console.messenger.messages.approve': async ({ messenger }) => {
    const { draftId, token } = await messenger.draft()
    return { path: `/console/messenger/messages/${draftId}/approve`, token, body: { text: 'Hello!' } }
  },
  'console.messenger.messages.reject': async ({ messenger }) => {
    const { draftId, token } = await messenger.draft()
    return { path: `/console/messenger/messages/${draftId}/reject`, token }
  },
  'console.messenger.updates.receive': async ({ messenger }) => {
    const { accountId, bot } = await messenger.bot()
    return {
      path: `/console/messenger/updates/${accountId}`,
      headers: { 'x-telegram-bot-api-secret-token': bot.updates.webhook?.secretToken ?? '' },
      body: { update_id: 1 },
    }
  },

  'developer.sdkExamples.list': fixed('/api/v1/dev/sdk/examples'),
  'developer.sdkExamples.read': fixed('/api/v1/dev/sdk/examples/main.py'),
  'console.page.read': fixed('/app'),
  'console.page.miniApp': fixed('/app/mini-app'),
  'console.page.asset': async ({ platform }) => {
    const page = await platform.call('GET', '/app')
    return { path: `/${/app\/assets\/[\w.-]+/.exec(page.text)?.[0]}` }
  },
  'admin.page.read': fixed('/staff'),
  'admin.page.asset': async ({ platform }) => {
    const page = await platform.call('GET', '/staff')
    return { path: `/${/staff\/assets\/[\w.-]+/.exec(page.text)?.[0]}` }
  },
  'docs.root.redirect': fixed('/'),
  'docs.page.read': fixed('/docs'),
  'docs.guide.read': fixed('/docs/quickstart'),
  'docs.llms.read': fixed('/llms.txt'),
  'docs.llmsFull.read': fixed('/llms-full.txt'),
  'docs.assets.read': async ({ platform }) => {
    const page = await platform.call('GET', '/docs')
    return { path: `/${/docs\/assets\/[\w.-]+/.exec(page.text)?.[0]}` }
  },
  'docs.openapi.read': fixed('/openapi.json'),
  'docs.manifestSchema.read': fixed('/schemas/manifest.json'),
  'docs.authorizationServer.read': fixed('/.well-known/oauth-authorization-server'),
  'docs.protectedResource.read': fixed('/.well-known/oauth-protected-resource'),
}
