import { randomUUID } from 'node:crypto'
import { logoPath } from '#shared/catalogue/logos/path.ts'
import { SubscriptionEntity } from '#shared/delivery/webhooks/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { DEFAULT_SCOPE, PYTHON_NAME } from '#shared/kernel/package-names.ts'
import { looking } from './a2a.ts'
import { APPLICATION, confirmEmail, invited as invitedTeammate, newTeammate, unique } from './developers.ts'
import { requestEmailCode } from './email.ts'
import { installed } from './fixtures.ts'
import { pngOf } from './images.ts'
import { formOf, presentationOf, REDIRECT, redemptionOf, refreshOf } from './oauth.ts'
import { TEST_BOT } from './platform.ts'
import type { Given } from './sample.ts'
import type { Stage } from './stage.ts'
import {
  ADMIN,
  a2aAgentOf,
  a2aTaskOf,
  applied,
  asked,
  askedByHost,
  asking,
  budgeted,
  emailOf,
  filedAs,
  founder,
  invited,
  later,
  personAddingPasskey,
  personWithPasskey,
  QUESTION,
  scheduled,
  signedInStaff,
  staff,
  staffAddingPasskey,
  teammateAddingPasskey,
  teammateWithPasskey,
  unsubscribeQuery,
  withKey,
  withPasskey,
} from './states.ts'

type Make = (stage: Stage) => Promise<Given>

/** Says what the reference's example doesn't. */
const body =
  (sent: unknown): Make =>
  async () => ({ body: sent })

/** Prepares what a list contains, or what a call needs without naming it. */
const after =
  (prepare: (stage: Stage) => Promise<unknown>): Make =>
  async (stage) => {
    await prepare(stage)
    return {}
  }

/** Calls as the person who may decide about an app. */
const asPersonOf =
  (prepare: (stage: Stage) => Promise<{ app: { person: { token: string } } }>, given: Given = {}): Make =>
  async (stage) => ({ token: (await prepare(stage)).app.person.token, ...given })

/** Calls as the owner of what was prepared. */
const as =
  (prepare: (stage: Stage) => Promise<{ token: string }>, given: Given = {}): Make =>
  async (stage) => ({ token: (await prepare(stage)).token, ...given })

const signedIn = (given?: Given): Make => as((stage) => stage.actors.signIn(), given)

const ids =
  (...names: string[]): Make =>
  async () => ({ ids: names })

/** Reads one of the files that a page names. */
const assetOf =
  (page: string): Make =>
  async ({ platform }) => {
    const { text } = await platform.call('GET', page)
    return { ids: [/\/assets\/([\w.-]+)/.exec(text)?.[1] ?? ''] }
  }

/** Path parameters of a package's file, from the list of packages. @param digest whether the path has the file's digest */
const packageFile =
  (kind: 'npm' | 'python', digest: boolean): Make =>
  async ({ platform }) => {
    const { body } = await platform.call('GET', '/packages')
    const { url } = body.packages.find((one: { kind: string }) => one.kind === kind)
    const segments = new URL(url).pathname.split('/').slice(3)
    return { ids: segments.filter((segment) => segment !== '-' && (digest || !/^[0-9a-f]{64}$/.test(segment))) }
  }

/** Parameters of a valid authorize request. */
const authorizeQuery = ({ app }: { app: { id: string } }, stage: Stage) => ({
  client_id: app.id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  code_challenge: stage.pkce().challenge,
  code_challenge_method: 'S256',
})

const authorizing: Make = async (stage) => ({
  query: new URLSearchParams(authorizeQuery(await stage.integration(), stage)).toString(),
})

/** Returns parameters that redeem a fresh code. */
const redemption = async (stage: Stage) => {
  const client = await stage.integration()
  return redemptionOf(client, await stage.actors.consented(client.app))
}

/** A client presents an access token of its own. */
const presenting: Make = async (stage) => {
  const client = await stage.actors.connected()
  return formOf(presentationOf(client, client.tokens.access_token))
}

type Ask = typeof asked

const statusOf =
  (ask: Ask): Make =>
  async (stage) => ({ query: `tg=${(await ask(stage)).tg}` })

const readingConsent =
  (ask: Ask): Make =>
  async (stage) => {
    const { tg, person } = await ask(stage)
    return { query: `tg=${tg}`, token: person.token }
  }

const deciding =
  (ask: Ask): Make =>
  async (stage) => {
    const { tg, person } = await ask(stage)
    return { token: person.token, body: { tg, decision: 'approve', workspace_id: person.workspace.id } }
  }

/** A message to the MCP server that needs nothing. */
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

const sendingLegacy: Make = async () => ({
  body: {
    message: {
      messageId: randomUUID(),
      role: 'ROLE_USER',
      content: [{ data: { data: { skill: 'look', arguments: {} } } }],
    },
    configuration: { blocking: false },
  },
})

/** The card of an agent is public. */
const cardOf: Make = async (stage) => ({ ids: [(await a2aAgentOf(stage)).id] })

/** Returns the code in the latest e-mail. */
const mailedCode = ({ platform }: Stage): string => /dvt_\S+/.exec(platform.mails.at(-1)?.text ?? '')?.[0] ?? ''

/** A call that answers a passkey's challenge, which anybody may ask for. */
const signingInAt =
  (path: string, prepare: typeof personWithPasskey | typeof teammateWithPasskey): Make =>
  async (stage) => {
    const { authenticator } = await prepare(stage)
    const { body: asked } = await stage.platform.call('POST', `${path}/options`)
    return { body: authenticator.answer(asked) }
  }

const emailing: Make = async (stage) => ({
  body: { email: await emailOf(stage, (await stage.developer()).headers) },
})

/** A developer's key, and a session of the portal that it opened. */
const withSession: Make = async (stage) => {
  const { owner, headers } = await stage.developer()
  await stage.platform.call('POST', '/api/v1/dev/session', { body: { api_key: owner.key } })
  return { headers }
}

const keyOf = async (stage: Stage) => ({ api_key: (await stage.developer()).headers['x-developer-key'] })

const SCHEDULE = {
  name: 'Daily summary',
  start: { input: { question: 'What happened today?' } },
  when: { cron: '0 17 * * MON-FRI', time_zone: 'Europe/Amsterdam' },
}

/** Valid calls, by endpoint id: what a call has that can't be derived, or a state that it needs. */
export const samples: Record<string, Make> = {
  'oauth.authorize.begin': authorizing,
  'connect.authorize.begin': authorizing,
  'connect.request.push': async (stage) => {
    const client = await stage.integration()
    return formOf({ ...authorizeQuery(client, stage), client_secret: client.clientSecret })
  },
  'connect.token.exchange': async (stage) => {
    const client = await stage.actors.connected()
    // The grant notes when it was last used, which is later than its beginning.
    stage.platform.clock.advance(1_000)
    return formOf(refreshOf(client, client.tokens.refresh_token))
  },
  'connect.token.revoke': presenting,
  'connect.token.introspect': presenting,
  'oauth.token.form': async (stage) => formOf(await redemption(stage)),
  'oauth.token.json': async (stage) => ({ body: await redemption(stage) }),
  'oauth.token.revoke': presenting,
  'oauth.token.introspect': presenting,
  'oauth.consent.page': async () => ({ query: 'tg=nonce' }),
  'oauth.consent.miniApp': async () => ({ query: 'tg=nonce' }),
  'oauth.consent.status': statusOf(asked),
  'oauth.consent.read': readingConsent(asked),
  'oauth.consent.decide': deciding(asked),

  'connect.consent.page': async () => ({ query: 'tg=nonce' }),
  'connect.consent.miniApp': async () => ({ query: 'tg=nonce' }),
  'connect.consent.status': statusOf(askedByHost),
  'connect.consent.read': readingConsent(askedByHost),
  'connect.consent.decide': deciding(askedByHost),
  'docs.agentResource.read': ids('helper'),

  'api.runs.list': async (stage) => ({ token: (await stage.running()).app.token }),
  'api.runs.read': async (stage) => {
    const { run, callback: token } = await stage.running()
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/steps`, { token, body: { type: 'message' } })
    return { ids: [run.id], token }
  },
  'api.runs.stream': async (stage) => {
    const { run, callback: token } = await stage.running()
    const sent = { status: 'succeeded', steps: [{ type: 'message' }] }
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token, body: sent })
    return { ids: [run.id], token }
  },
  'api.runs.complete': body({ status: 'succeeded', output: { n: 1 }, steps: [{ type: 'message' }], cost_units: 2 }),
  'api.runs.addSteps': body({ steps: [{ type: 'message', output: { text: 'hi' } }, { type: 'looking' }] }),
  'api.runs.askInput': body({ input_requests: QUESTION }),
  'api.runs.answerInput': async (stage) => {
    const { app, run, responses } = await asking(stage)
    return { ids: [run.id], token: app.token, body: { responses } }
  },
  'api.tools.invoke': async (stage) => ({
    ids: ['emit_event'],
    token: (await stage.running()).callback,
    body: { arguments: { type: 'order.paid', data: { n: 1 } } },
  }),
  'mcp.server.call': body(PING),
  'mcp.agentCard.read': async (stage) => {
    stage.platform.deps.settings.publicAgents = true
    return { ids: [(await stage.listed()).app.slug] }
  },
  'mcp.agents.call': async (stage) => {
    const { token, workspaceId } = await stage.integration()
    const { app } = await installed(stage.platform.deps, { workspaceId })
    return { ids: [app.slug], token, body: PING }
  },
  'a2a.card.read': cardOf,
  'a2a.card.readLegacy': cardOf,
  'a2a.notifications.receive': async (stage) => {
    const { run, token } = await stage.followed()
    return { ids: [run.id], headers: { 'x-a2a-notification-token': token }, body: {} }
  },
  'a2a.rpc.call': body({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
  'a2a.rpc.callLegacy': async (stage) => {
    const { id, token, task } = await a2aTaskOf(stage)
    return { ids: [id], token, body: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: task } } }
  },
  'a2a.message.send': async () => ({ body: looking() }),
  'a2a.message.stream': async () => ({ body: looking() }),
  'a2a.tasks.cancel': body({}),
  'a2a.tasks.subscribe': body({}),
  'a2a.legacy.send': sendingLegacy,
  'a2a.legacy.stream': sendingLegacy,
  'a2a.legacy.cancel': body({}),
  'a2a.legacy.subscribe': body({}),
  'a2a.pushes.create': async ({ hooks }) => ({ body: { url: hooks.url, token: 'tell-me' } }),
  'a2a.legacy.pushes.create': async ({ hooks }) => ({
    body: { config: { pushNotificationConfig: { url: hooks.url, token: 'tell-me' } } },
  }),
  'api.files.list': as((stage) => stage.filed()),

  'api.tasks.list': async (stage) => ({ token: (await stage.tasked()).app.token }),
  'api.tasks.read': async (stage) => {
    const { app, task } = await stage.tasked()
    const question = { token: app.token, body: { text: 'Which of the two?' } }
    await stage.platform.call('POST', `/api/v1/tasks/${task.id}/question`, question)
    return { ids: [task.id], token: app.token }
  },
  'api.tasks.setStatus': body({ status: 'in_progress' }),

  'api.events.list': async (stage) => ({ token: (await stage.subscribed()).app.token }),

  'api.webhooks.create': async ({ hooks }) => ({
    body: { url: hooks.url, events: ['run.*'], description: 'Runs' },
  }),
  'api.webhooks.list': async (stage) => ({ token: (await stage.subscribed()).app.token }),
  'api.webhooks.enable': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    const key = { installation_id: app.installation.id, id: webhook.id }
    const set = { status: 'disabled' as const, last_error: 'HTTP 500', disabled_at: stage.platform.clock.now() }
    await stage.platform.deps.table.transact([SubscriptionEntity.update(key, { set })])
    return { ids: [webhook.id], token: app.token }
  },
  'api.webhooks.recover': body({ since: '2026-01-01T00:00:00.000+00:00' }),

  'console.logos.read': ids(
    logoPath({ id: 'app_01kae5m1v8w6c3x9q2r7t4y0zn', name: 'Greeter' }).split('/').at(-1) ?? '',
  ),
  'console.screenshots.read': async (stage) => {
    const { owner, app } = await stage.developer()
    const image = pngOf(320, [80, 90, 200]).toString('base64')
    const { body: shown } = await owner.call('POST', `/api/v1/dev/apps/${app.id}/screenshots`, { image })
    return { ids: [shown.path.split('/').at(-1)] }
  },
  'console.session.provision': async () => ({
    body: { user: unique('ann'), workspace: unique('acme'), role: 'admin' },
  }),
  'console.session.end': signedIn(),
  'console.session.switchWorkspace': async (stage) => {
    const { token, workspace } = await stage.actors.signIn()
    return { token, body: { workspace_id: workspace.id } }
  },
  'console.bot.webAppAuth': async ({ telegram }) => ({
    body: { init_data: telegram.initData(telegram.person({ first_name: unique('ann') })) },
  }),
  'console.bot.widgetAuth': async ({ telegram }) => ({
    body: { ...telegram.widget(telegram.person({ first_name: unique('ann') })) },
  }),
  'console.bot.receiveUpdate': async ({ telegram }) => {
    const from = telegram.person({ first_name: unique('ann') })
    const message = { message_id: 1, date: 1, chat: { id: from.id, type: 'private' }, from, text: '/start' }
    return {
      headers: { 'x-telegram-bot-api-secret-token': TEST_BOT.webhookSecret },
      body: { update_id: from.id, message },
    }
  },
  'console.runs.decide': body({ decision: 'approve', comment: 'Only this once.' }),
  'console.approvalRules.set': body({
    rules: [{ name: 'Payments', hosts: ['*.bank.example'], approvers: { role: 'owner', user_ids: [] } }],
  }),
  'console.away.set': async (stage) => {
    const { person, workspaceId } = await stage.integration()
    const { user } = await stage.member(workspaceId)
    return { token: person.token, body: { delegate_id: user.id, until: later(stage, 86_400_000) } }
  },
  'console.away.end': async (stage) => {
    const { person, workspaceId } = await stage.integration()
    const { user } = await stage.member(workspaceId)
    const away = { delegate_id: user.id, until: later(stage, 86_400_000) }
    await stage.platform.call('PUT', '/console/me/away', { token: person.token, body: away })
    return { token: person.token }
  },
  'console.runs.again': async (stage) => {
    const { app, run } = await stage.running()
    const input = { question: 'How many blue mugs are in stock?' }
    return { ids: [run.id], token: app.person.token, body: { input } }
  },
  'console.runs.trace': async (stage) => {
    const { app, run, callback } = await stage.awaiting()
    await stage.platform.call('POST', '/api/v1/runs', { token: callback, body: { trigger: 'further' } })
    return { ids: [run.id], token: app.person.token }
  },
  'console.inbox.list': asPersonOf((stage) => stage.awaiting()),
  'console.inbox.snooze': async (stage) => {
    const { app, step } = await stage.awaiting()
    return { token: app.person.token, body: { ids: [step], until: later(stage, 3_600_000) } }
  },
  'console.approvals.decide': async (stage) => {
    const { app, run, step } = await stage.awaiting()
    return { token: app.person.token, body: { decision: 'reject', calls: [{ run_id: run.id, step_id: step }] } }
  },
  'console.runs.answerInput': async (stage) => {
    const { app, run, responses } = await asking(stage)
    return { ids: [run.id], token: app.person.token, body: { responses } }
  },
  'console.runs.cancel': async (stage) => {
    const { app, run } = await asking(stage)
    return { ids: [run.id], token: app.person.token }
  },
  'console.inputRequests.list': asPersonOf(asking),
  'console.passkeys.list': as(personWithPasskey),
  'console.passkeys.begin': signedIn(),
  'console.passkeys.add': personAddingPasskey,
  'console.passkeys.signIn': signingInAt('/console/passkeys/sign-in', personWithPasskey),
  'console.installations.add': async (stage) => {
    const { app } = await stage.listed()
    const { token } = await stage.actors.signIn()
    return { token, body: { slug: app.slug, scopes: ['runs:write'] } }
  },
  'console.installations.setSettings': body({ values: {} }),
  'console.marketplace.list': after((stage) => stage.listed()),
  'console.install.get': async (stage) => ({ ids: [(await stage.listed()).app.slug] }),
  'console.installations.setPolicy': body({ allowed_callers: ['stock-helper'], denied_tools: ['http_fetch'] }),
  'console.settings.setBans': body({ denied_tools: ['http_fetch'], denied_scopes: ['chat:write'] }),
  'console.invitations.list': as(invited),
  'console.agentRequests.list': as((stage) => stage.wished()),
  'console.agentRequests.unvote': async (stage) => {
    const { id, token } = await stage.wished()
    await stage.platform.call('POST', `/console/agent-requests/${id}/vote`, { token })
    return { ids: [id], token }
  },
  'console.abuseReports.create': async (stage) => {
    const { app, person } = await stage.integration()
    return { token: person.token, body: { app_id: app.id, category: 'misleading', text: 'It asks for passwords.' } }
  },
  'console.me.delete': signedIn(),
  'console.workspace.delete': signedIn(),
  'console.workspace.leave': as(async (stage) => stage.member((await stage.actors.signIn()).workspace.id)),
  'console.workspace.restore': async (stage) => {
    const { token } = await stage.actors.signIn()
    await stage.platform.call('DELETE', '/console/workspace', { token })
    return { token }
  },
  'admin.admins.list': after(staff),
  'admin.admins.create': async () => ({
    body: { email: `${unique('mo')}@example.com`, name: 'Mo', role: 'moderator', password: 'a moderator’s password' },
  }),
  'admin.admins.edit': body({ name: 'Maud', role: 'superadmin' }),
  'admin.keys.list': async (stage) => ({ ids: [(await withKey(stage)).id] }),
  'admin.keys.create': body({ name: 'ci', expires_in_days: 30 }),
  'admin.keys.rotate': body({ expires_in_days: 30 }),
  'admin.account.changePassword': async (stage) => {
    // Uses a key: the call ends a session, which couldn't ask for a lost answer again.
    const { secret, password } = await withKey(stage)
    const change = { current_password: password, new_password: 'another good password', keep_keys: true }
    return { headers: { 'x-admin-key': secret }, body: change }
  },
  'admin.sessions.signOut': as(signedInStaff),
  'admin.sessions.list': as(signedInStaff),
  'admin.sessions.endOthers': as(signedInStaff),
  'admin.sessions.listOf': async (stage) => ({ ids: [(await signedInStaff(stage)).id] }),
  'admin.sessions.endAll': async (stage) => ({ ids: [(await signedInStaff(stage)).id] }),
  'admin.passkeys.list': as(withPasskey),
  'admin.passkeys.begin': as(signedInStaff),
  'admin.passkeys.add': staffAddingPasskey,
  'admin.passkeys.reset': async (stage) => ({ ids: [(await withPasskey(stage)).id] }),
  'admin.passkeys.beginConfirmation': as(withPasskey),
  'admin.passkeys.confirm': async (stage) => {
    const { token, authenticator } = await withPasskey(stage)
    const { body: asked } = await stage.platform.call('POST', '/admin/me/confirm/passkey/options', { token })
    stage.platform.clock.advance(1_000)
    return { token, body: authenticator.answer(asked) }
  },
  'admin.passkeys.confirmWithPassword': async (stage) => {
    const { token, password } = await signedInStaff(stage)
    stage.platform.clock.advance(1_000)
    return { token, body: { password } }
  },
  'admin.developers.list': after((stage) => stage.developer()),
  'admin.developers.block': body({ reason: 'Spam.' }),
  'admin.developers.unblock': async (stage) => {
    const { id } = (await stage.developer()).owner
    await stage.platform.call('POST', `/admin/developers/${id}/block`, { headers: ADMIN, body: { reason: 'Spam.' } })
    return { ids: [id] }
  },
  'admin.workspaces.list': after((stage) => stage.actors.signIn()),
  'admin.workspaces.setStatus': body({ status: 'suspended', reason: 'Unpaid.' }),
  'admin.installations.setStatus': body({ status: 'suspended', reason: 'Too loud.' }),
  'admin.audit.list': after(staff),
  'admin.metrics.read': async () => ({ query: 'days=2&tz=Europe/Zurich' }),
  'admin.runs.list': after((stage) => stage.running()),
  'admin.export.read': async () => ({ ids: ['apps'], query: 'since=2026-11-01T00:00:00.000Z' }),
  'admin.requests.list': after((stage) => stage.wished()),
  'admin.requests.setStatus': body({ status: 'declined', reason: 'There is one already.' }),
  'admin.abuseReports.list': after((stage) => stage.complained()),
  'admin.abuseReports.resolve': body({ resolution: 'dismissed', reason: 'It is a misunderstanding.' }),
  'console.tasks.list': asPersonOf((stage) => stage.tasked()),
  'console.tasks.create': async (stage) => {
    const { installation, person } = await stage.integration()
    const task = { title: 'Count the stock', description: 'All of it.', installation_id: installation.id }
    return { token: person.token, body: task }
  },
  'console.tasks.edit': body({ title: 'Count it again', status: 'done', installation_id: null }),
  'console.tasks.run': body({}),
  'console.tasks.answer': async (stage) => {
    const { app, task } = await stage.tasked()
    const question = { token: app.token, body: { text: 'Which of the two?' } }
    await stage.platform.call('POST', `/api/v1/tasks/${task.id}/question`, question)
    stage.platform.clock.advance(1_000)
    return { ids: [task.id], token: app.person.token, body: { text: 'The first.' } }
  },
  'console.files.list': async (stage) => ({ token: (await stage.filed()).personToken }),
  'console.files.renewUpload': async (stage) => {
    const { token, id } = await filedAs(stage, { name: 'film.mp4', content_type: 'video/mp4', size: 5_000_000 })
    // Otherwise the new address ends when the first one does, and nothing changes.
    stage.platform.clock.advance(1_000)
    return { ids: [id], token }
  },
  'console.files.renameFolder': body({ name: 'Customers' }),
  'console.audit.list': async (stage) => {
    const { installation, person } = await stage.integration()
    const policy = { token: person.token, body: { denied_tools: ['http_fetch'] } }
    await stage.platform.call('PUT', `/console/installations/${installation.id}/policy`, policy)
    return { token: person.token }
  },
  'console.analytics.read': asPersonOf((stage) => stage.running(), { query: 'days=2&tz=Europe/Zurich' }),
  'console.grants.resume': async (stage) => {
    const { grant, person } = await stage.integration()
    await stage.platform.call('POST', `/console/grants/${grant.id}/pause`, { token: person.token })
    return { ids: [grant.id], token: person.token }
  },
  'console.connectedWebhooks.list': asPersonOf((stage) => stage.subscribed()),
  'console.connectedWebhooks.resume': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    const { token } = app.person
    const at = `/console/installations/${app.installation.id}/webhooks/${webhook.id}`
    await stage.platform.call('POST', `${at}/pause`, { token })
    return { ids: [app.installation.id, webhook.id], token }
  },
  'console.sessions.end': async (stage) => {
    const { token } = (await stage.integration()).person
    const { body: sessions } = await stage.platform.call('GET', '/console/sessions', { token })
    return { ids: [sessions.items[0].id], token }
  },
  'console.publishers.get': async (stage) => ({ ids: [(await stage.listed()).owner.id] }),
  'console.schedules.list': as(scheduled),
  'console.schedules.calendar': as(scheduled),
  'console.schedules.listProposals': async (stage) => {
    const { installation, person } = await stage.integration()
    return { token: person.token, query: `installation_id=${installation.id}` }
  },
  'console.schedules.create': async (stage) => {
    const { installation, person } = await stage.integration()
    return { token: person.token, body: { ...SCHEDULE, installation_id: installation.id } }
  },
  'console.schedules.preview': body({ when: SCHEDULE.when }),
  'console.schedules.run': body({}),
  'console.schedules.change': body({ name: 'Summary' }),
  'console.schedules.resume': async (stage) => {
    const { token, id } = await scheduled(stage)
    await stage.platform.call('POST', `/console/schedules/${id}/pause`, { token })
    return { token, ids: [id] }
  },
  'console.schedules.listOccurrences': async (stage) => {
    const { token, id } = await scheduled(stage)
    await stage.platform.call('POST', `/console/schedules/${id}/run`, { token })
    return { token, ids: [id] }
  },
  'api.schedules.list': async (stage) => ({ token: (await scheduled(stage)).appToken }),
  'api.schedules.create': body(SCHEDULE),
  'api.schedules.preview': body({ when: SCHEDULE.when }),
  'api.schedules.run': body({}),
  'api.schedules.change': body({ name: 'Summary', when: { event: 'task.created' } }),
  'api.schedules.listOccurrences': async (stage) => {
    const { appToken, id } = await scheduled(stage)
    await stage.platform.call('POST', `/api/v1/schedules/${id}/run`, { token: appToken })
    return { token: appToken, ids: [id] }
  },
  'api.schedules.resume': async (stage) => {
    const { appToken, id } = await scheduled(stage)
    await stage.platform.call('POST', `/api/v1/schedules/${id}/pause`, { token: appToken })
    return { token: appToken, ids: [id] }
  },
  'console.budgets.list': as(budgeted),
  'console.budgets.add': body({ subject: { type: 'person' }, period: 'month', limits: { tokens: 1_000 } }),
  'console.budgets.change': body({ limits: { runs: 20 } }),
  'console.updates.read': async (stage) => {
    const { token } = (await stage.awaiting()).app.person
    await stage.platform.drain()
    // The first read after a change counts unread notifications. This is one of the many later reads.
    stage.platform.clock.advance(10_000)
    await stage.platform.call('GET', '/console/updates', { token })
    return { token }
  },
  'console.notifications.list': asPersonOf((stage) => stage.awaiting()),
  'console.notifications.markRead': asPersonOf((stage) => stage.awaiting(), { body: { all: true } }),
  'console.notifications.setPreferences': body({
    messaging_app: { muted: false, off: ['agent.notice'], muted_until: '2099-01-01T00:00:00.000+00:00' },
  }),
  'console.email.set': signedIn({ body: { email: 'ada@example.com' } }),
  'console.email.confirm': async (stage) => {
    const { token } = await stage.actors.signIn()
    return { token, body: { code: await requestEmailCode(stage.platform, token, 'ada@example.com') } }
  },
  'console.email.askToUnsubscribe': async (stage) => ({ query: await unsubscribeQuery(stage) }),
  'console.email.unsubscribe': async (stage) => ({ query: await unsubscribeQuery(stage) }),
  'console.views.set': body({ views: [{ screen: 'runs', name: 'Failed today', query: 'status=failed' }] }),
  'console.runs.list': asPersonOf((stage) => stage.running()),
  'console.runs.stream': async (stage) => {
    const { app, run } = await stage.running()
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
    return { ids: [run.id], token: app.person.token }
  },

  'developer.account.register': async () => ({
    body: { email: `${unique('sample')}@example.com`, name: 'Ada', company: 'Example Ltd' },
  }),
  'developer.keys.list': async (stage) => {
    const { owner, headers } = await stage.developer()
    await owner.call('POST', '/api/v1/dev/me/keys', { name: unique('key') })
    return { headers }
  },
  'developer.keys.create': async () => ({ body: { name: unique('key'), expires_in_days: 30 } }),
  'developer.keys.edit': async () => ({ body: { name: unique('key'), role: 'viewer' } }),
  'developer.members.list': async (stage) => {
    const { owner, headers } = await stage.developer()
    await newTeammate(stage.platform, owner, 'viewer')
    return { headers }
  },
  'developer.members.invite': async (stage) => {
    const { owner, headers } = await stage.developer()
    await confirmEmail(stage.platform, owner)
    return { headers, body: { email: `${unique('bo')}@example.com`, role: 'developer' } }
  },
  'developer.members.edit': body({ role: 'developer' }),
  'developer.members.join': async (stage) => {
    const { code } = await invitedTeammate(stage.platform, (await stage.developer()).owner, 'viewer')
    return { body: { token: code, name: 'Bo Example' } }
  },
  'developer.passkeys.list': async (stage) => ({ headers: (await teammateWithPasskey(stage)).headers }),
  'developer.passkeys.begin': async (stage) => ({ headers: (await founder(stage)).headers }),
  'developer.passkeys.add': teammateAddingPasskey,
  'developer.passkeys.signIn': signingInAt('/api/v1/dev/passkeys/sign-in', teammateWithPasskey),
  'developer.account.claimVendor': async () => ({ body: { vendor: unique('vendor') } }),
  'developer.email.confirmProof': async (stage) => {
    const { owner, headers } = await stage.developer()
    await owner.call('POST', '/api/v1/dev/me/email-proof')
    return { headers, body: { token: mailedCode(stage) } }
  },
  'developer.account.recover': emailing,
  'developer.account.confirmRecovery': async (stage) => {
    const email = await emailOf(stage, (await stage.developer()).headers)
    await stage.platform.call('POST', '/api/v1/dev/recover', { body: { email } })
    return { body: { token: mailedCode(stage) } }
  },
  'developer.sandbox.session': body({ as: 'customer' }),
  'developer.session.request': emailing,
  'developer.session.start': async (stage) => ({ body: await keyOf(stage) }),
  'developer.session.end': async (stage) => {
    const started = await stage.platform.call('POST', '/api/v1/dev/session', { body: await keyOf(stage) })
    return { headers: { 'x-developer-key': started.body.session_key } }
  },
  'developer.sessions.list': withSession,
  'developer.sessions.endOthers': withSession,
  'developer.sessions.end': async (stage) => {
    const started = await stage.platform.call('POST', '/api/v1/dev/session', { body: await keyOf(stage) })
    const headers = { 'x-developer-key': started.body.session_key }
    const { body: sessions } = await stage.platform.call('GET', '/api/v1/dev/sessions', { headers })
    return { ids: [sessions.items.find(({ current }: { current: boolean }) => current).id], headers }
  },
  'developer.apps.create': async () => ({
    body: { slug: unique('sample'), name: 'Sample', type: 'agent', requested_scopes: ['runs:write'] },
  }),
  'developer.apps.read': async (stage) => {
    const { app, headers } = await stage.submittable()
    return { ids: [app.id], headers }
  },
  'developer.apps.submit': async (stage) => {
    const { app, headers } = await stage.submittable()
    return { ids: [app.id], headers }
  },
  'developer.listen.stream': async (stage) => {
    const { app, headers } = await stage.developer()
    return { query: `app_id=${app.id}`, headers }
  },
  'developer.listen.end': async (stage) => {
    const { app, headers } = await stage.developer()
    return { query: `app_id=${app.id}&listener=${newId('listener', stage.platform.clock.now())}`, headers }
  },
  'developer.listen.answer': body({ status: 200, body: '{}' }),
  'developer.sandbox.trigger': async (stage) => {
    const { app, headers } = await stage.published()
    return { headers, body: { app_id: app.id, type: 'run.succeeded' } }
  },
  'developer.sandbox.seed': async (stage) => ({ headers: (await stage.listed()).headers }),
  'developer.sandbox.unseed': async (stage) => {
    const { owner, headers } = await stage.listed()
    await owner.call('POST', '/api/v1/dev/sandbox/seed')
    return { headers }
  },
  'developer.verification.read': async (stage) => {
    const { owner, headers } = await stage.developer()
    await owner.call('POST', '/api/v1/dev/verification', APPLICATION)
    return { headers }
  },
  'developer.verification.apply': body({ ...APPLICATION, registration_number: '12345678' }),
  'developer.apps.messages.list': async (stage) => {
    const { owner, app, headers } = await stage.developer()
    await owner.call('POST', `/api/v1/dev/apps/${app.id}/messages`, { text: 'Which policy counts?' })
    return { ids: [app.id], headers }
  },
  'developer.requests.list': async (stage) => {
    await stage.wished()
    return { query: 'limit=100' }
  },
  'developer.reviews.list': async (stage) => ({
    query: 'unanswered=true',
    headers: (await stage.reviewed()).headers,
  }),
  'developer.apps.reviews.list': async (stage) => {
    const { app, headers } = await stage.reviewed()
    return { ids: [app.id], headers }
  },
  'console.reviews.write': async (stage) => {
    const { app, person } = await stage.integration()
    return { ids: [app.id], token: person.token, body: { rating: 4, text: 'Quick.' } }
  },
  'developer.apps.stats': async (stage) => {
    const { app, headers } = await stage.reviewed()
    return { ids: [app.id], query: 'days=7', headers }
  },
  'developer.apps.logs': async (stage) => {
    const { app, agentToken: token, headers } = await stage.reviewed()
    const { body: run } = await stage.platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token })
    return { ids: [app.id], headers }
  },
  'developer.apps.runs.exchanges': async (stage) => {
    const { owner, headers, app } = await stage.published()
    const { body: sandbox } = await owner.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const { body: run } = await stage.platform.call('POST', '/api/v1/runs', { token: sandbox.access_token, body: {} })
    await stage.platform.drain()
    return { ids: [app.id, run.id], headers }
  },
  'developer.apps.testRun': async () => ({ body: { input: { q: 1 } }, works: true }),
  'developer.versions.publish': async (stage) => {
    const { owner, app, headers } = await stage.developer()
    return { ids: [app.id], headers, body: stage.manifestFor(owner, app) }
  },
  'developer.versions.validate': async (stage) => {
    const { owner, app, headers } = await stage.developer()
    return { ids: [app.id], headers, body: stage.manifestFor(owner, app) }
  },
  'developer.versions.promote': async (stage) => {
    const { app, headers } = await stage.published()
    return { ids: [app.id, '1.0.0'], headers }
  },
  'developer.manifest.validate': async (stage) => {
    const { owner, app } = await stage.developer()
    return { body: { ...stage.manifestFor(owner, app), version: 'one' } }
  },

  'console.conversations.open': async (stage) => {
    const { installation, person } = await stage.integration()
    return { token: person.token, body: { installation_id: installation.id } }
  },
  'console.conversations.messages.list': async (stage) => {
    const { id, token, path } = await stage.chat()
    await stage.platform.call('POST', path, { token, body: { text: 'Hello.' } })
    return { ids: [id], token }
  },
  'console.conversations.markRead': async (stage) => {
    const { id, token, path } = await stage.chat()
    const { body: said } = await stage.platform.call('POST', path, { token, body: { text: 'Hello.' } })
    return { ids: [id], token, body: { message_id: said.id } }
  },
  // Enabled is the default, and calls that change nothing aren't audited.
  'console.settings.setCrossAgent': body({ enabled: false }),
  'console.settings.setPrimaryAgent': async (stage) => {
    const { installation, person } = await stage.integration()
    return { token: person.token, body: { installation_id: installation.id } }
  },
  'admin.settings.setDeniedTools': body({ denied_tools: [] }),
  'api.conversations.list': as((stage) => stage.conversation()),

  'admin.account.signIn': body({ email: 'admin@example.com', password: 'local-admin-password' }),
  'admin.review.list': after((stage) => stage.inReview()),
  'admin.apps.list': after((stage) => stage.inReview()),
  'admin.apps.read': async (stage) => ({ ids: [(await stage.listed()).app.id] }),
  'admin.apps.delist': async (stage) => ({ ids: [(await stage.listed()).app.id], body: { reason: 'Out of date.' } }),
  'admin.apps.curate': async (stage) => ({ ids: [(await stage.listed()).app.id], body: { featured: true } }),
  'admin.apps.testInstall': async () => ({ body: { input: {} }, works: true }),
  'admin.versions.reject': body({ reason: 'It asks for too much.' }),
  'admin.revisions.reject': body({ reason: 'The summary misleads.' }),
  'admin.appMessages.list': async (stage) => {
    const { id } = (await stage.inReview()).app
    await stage.platform.call('POST', `/admin/apps/${id}/messages`, { headers: ADMIN, body: { text: 'Which?' } })
    return { ids: [id] }
  },
  'admin.verifications.list': after(applied),
  'admin.verifications.decide': body({ decision: 'approve', reason: 'The register confirms it.' }),
  'admin.reviews.list': after((stage) => stage.reviewed()),
  'admin.apps.unsuspend': async (stage) => {
    const { id } = (await stage.inReview()).app
    await stage.platform.call('POST', `/admin/apps/${id}/suspend`, { headers: ADMIN, body: { reason: 'Checks.' } })
    return { ids: [id] }
  },

  'console.messenger.accounts.list': as(({ messenger }) => messenger.bot()),
  'console.messenger.accounts.connectBot': async ({ messenger }) => ({ body: { token: messenger.newBot().token } }),
  'console.messenger.accounts.connectUser': as(({ messenger }) => messenger.fromTelegram(), { body: { shared: true } }),
  'console.messenger.accounts.share': async ({ messenger, platform }) => {
    const { token } = await messenger.fromTelegram()
    const { body: made } = await platform.call('POST', '/console/messenger/accounts/user', { token, body: {} })
    return { ids: [made.id], token, body: { shared: true } }
  },
  'console.messenger.chats.list': async ({ messenger }) => {
    const { accountId, token } = await messenger.chat()
    return { query: `account_id=${accountId}`, token }
  },
  'console.messenger.chats.assign': async ({ messenger }) => {
    const { chatId, token, app } = await messenger.chat()
    return { ids: [chatId], token, body: { installation_id: app.installation.id } }
  },
  'console.messenger.updates.receive': async ({ messenger }) => {
    const { accountId, bot } = await messenger.bot()
    const secret = bot.updates.webhook?.secretToken ?? ''
    return { ids: [accountId], headers: { 'x-telegram-bot-api-secret-token': secret }, body: { update_id: 1 } }
  },

  'developer.sdkExamples.read': ids('main.py'),
  'console.page.asset': assetOf('/app'),
  'admin.page.asset': assetOf('/staff'),
  'developer.page.asset': assetOf('/developers'),
  'docs.guide.read': ids('quickstart'),
  'docs.assets.read': assetOf('/docs'),
  'docs.openapiPart.read': ids('integration.json'),
  'docs.packages.npmName': ids(encodeURIComponent(`${DEFAULT_SCOPE}/cli`)),
  'docs.packages.npmScoped': ids(DEFAULT_SCOPE, 'cli'),
  'docs.packages.npmFile': packageFile('npm', false),
  'docs.packages.npmDigest': packageFile('npm', true),
  'docs.packages.simpleProject': ids(PYTHON_NAME),
  'docs.packages.pythonFile': packageFile('python', false),
  'docs.packages.pythonDigest': packageFile('python', true),
}
