import { randomUUID } from 'node:crypto'
import { logoPath } from '#shared/catalogue/logos/path.ts'
import { SubscriptionEntity } from '#shared/delivery/webhooks/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { PersonMailEntity } from '#shared/messaging/inbox/mail/entity.ts'
import { unsubscribeUrl } from '#shared/messaging/inbox/mail/unsubscribe.ts'
import { A2A, looking } from './a2a.ts'
import { confirmEmail, invited as invitedTeammate, newTeammate, signedInByEmail, unique } from './developers.ts'
import { giveEmail, requestEmailCode } from './email.ts'
import { installed } from './fixtures.ts'
import { hostActors } from './hosts.ts'
import { pngOf } from './images.ts'
import { REDIRECT } from './oauth.ts'
import { createAuthenticator } from './passkeys.ts'
import { TEST_BOT } from './platform.ts'
import type { Sample } from './sample.ts'
import type { Stage } from './stage.ts'

const ADMIN = { 'x-admin-key': 'local-admin-key' }
/** Parameters of a valid authorize request. */
const authorizeQuery = ({ app }: { app: { id: string } }, stage: Stage) => ({
  client_id: app.id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  code_challenge: stage.pkce().challenge,
  code_challenge_method: 'S256',
})

/** Creates a file or folder as a person. */
const filedAs = async (stage: Stage, body: object) => {
  const { token } = (await stage.integration()).person
  const answer = await stage.platform.call('POST', '/console/files', { token, body })
  return { token, id: answer.body.id as string }
}

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

/** Returns parameters that redeem a fresh code. */
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

/** Builds a call in which a client presents an access token of its own. */
const presented = (path: string, client: Awaited<ReturnType<Stage['actors']['connected']>>): Sample => ({
  path,
  headers: FORM,
  body: new URLSearchParams({
    client_id: client.app.id,
    client_secret: client.clientSecret,
    token: client.tokens.access_token,
  }).toString(),
})

/** A message to the MCP server that needs nothing. */
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

const LIST_TASKS = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }

const legacyCalling = () => ({
  message: {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    content: [{ data: { data: { skill: 'look', arguments: {} } } }],
  },
  configuration: { blocking: false },
})

/** An integration, and the path of an A2A agent of its workspace. */
const spoken = async (stage: Stage) => {
  const app = await stage.integration()
  const { at } = await stage.a2aAgent(app)
  return { at, token: app.token }
}

type Spoken = Awaited<ReturnType<typeof spoken>>

const withTask = async (stage: Stage) => {
  const app = await stage.integration()
  const { at, task } = await stage.a2aTask(app)
  return { at, task, token: app.token }
}

const ofAgent = ({ at, token }: Spoken, path: string, body?: unknown): Sample => ({
  path: at + path,
  token,
  headers: A2A,
  ...(body !== undefined && { body }),
})

const ofLegacy = ({ at, token }: Spoken, path: string, body?: unknown): Sample => ({
  path: `${at}/v0.3/v1${path}`,
  token,
  ...(body !== undefined && { body }),
})

const ofTask = ({ task, ...agent }: Spoken & { task: string }, verb = '', body?: unknown): Sample =>
  ofAgent(agent, `/tasks/${task}${verb}`, body)

const ofLegacyTask = ({ task, ...agent }: Spoken & { task: string }, verb = '', body?: unknown): Sample =>
  ofLegacy(agent, `/tasks/${task}${verb}`, body)

/** The configuration of a task that has its id. */
const ofPush = (asked: Spoken & { task: string }, of: typeof ofTask): Sample =>
  of(asked, `/pushNotificationConfigs/${asked.task}`)

const QUESTION = {
  shelf: {
    message: 'Which shelf?',
    schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
}

/** A run with an unanswered question, and its answer. */
const asking = async (stage: Stage) => {
  const { app, run, callback } = await stage.running()
  await stage.platform.call('POST', `/api/v1/runs/${run.id}/input-requests`, {
    token: callback,
    body: { input_requests: QUESTION },
  })
  return { app, run, responses: { shelf: { action: 'accept', content: { name: 'Left' } } } }
}

/** A host's consent link, and a person who can decide it. */
const askedByHost = async (stage: Stage) => {
  const host = hostActors(stage.platform)
  return { tg: await host.link(await host.register()), person: await stage.actors.signIn() }
}

const asked = async (stage: Stage) => {
  const { app } = await stage.integration()
  const tg = await stage.actors.link(app, { code_challenge: stage.pkce().challenge })
  return { tg, person: await stage.actors.signIn() }
}

/** Returns the code in the latest e-mail. */
const mailedCode = ({ platform }: Stage): string => /dvt_\S+/.exec(platform.mails.at(-1)?.text ?? '')?.[0] ?? ''

const emailOf = async ({ platform }: Stage, headers: Record<string, string>): Promise<string> =>
  (await platform.call('GET', '/api/v1/dev/me', { headers })).body.email

const budgeted = async (stage: Stage) => {
  const { token } = (await stage.integration()).person
  const body = { subject: { type: 'workspace' }, period: 'day', limits: { runs: 10 } }
  const { body: budget } = await stage.platform.call('POST', '/console/budgets', { token, body })
  return { token, id: budget.id as string }
}

const connectedWebhook = async (stage: Stage) => {
  const { app, webhook } = await stage.subscribed()
  return { token: app.person.token, path: `/console/installations/${app.installation.id}/webhooks/${webhook.id}` }
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

/** Creates an admin account. */
const staff = async ({ platform }: Stage, role: 'superadmin' | 'moderator' = 'moderator') => {
  const password = 'a moderator’s password'
  const body = { email: `${unique('mo')}@example.com`, name: 'Mo', role, password }
  const { body: admin } = await platform.call('POST', '/admin/admins', { headers: ADMIN, body })
  return { id: admin.id as string, email: admin.email as string, password }
}

const signedInStaff = async (stage: Stage) => {
  const account = await staff(stage)
  const { email, password } = account
  const { body } = await stage.platform.call('POST', '/admin/auth/login', { body: { email, password } })
  const token = body.token as string
  const { body: me } = await stage.platform.call('GET', '/admin/me', { token })
  return { ...account, token, session: me.session.id as string }
}

/** Prepares the request that adds a passkey to the account of a session. */
const newPasskey = async ({ platform }: Stage, token: string) => {
  const authenticator = createAuthenticator()
  const { body: asked } = await platform.call('POST', '/admin/me/passkeys/options', { token })
  return { authenticator, body: { name: 'Laptop', ...authenticator.create(asked) } }
}

/** Creates an admin with a passkey, signed in. */
const withPasskey = async (stage: Stage) => {
  const account = await signedInStaff(stage)
  const { authenticator, body } = await newPasskey(stage, account.token)
  const added = await stage.platform.call('POST', '/admin/me/passkeys', { token: account.token, body })
  return { ...account, authenticator, passkey: added.body.id as string }
}

/** Creates a person with a passkey, signed in. */
const personWithPasskey = async ({ actors, platform }: Stage) => {
  const { token } = await actors.signIn()
  const authenticator = createAuthenticator()
  const { body: asked } = await platform.call('POST', '/console/passkeys/options', { token })
  const body = { name: 'Laptop', ...authenticator.create(asked) }
  const added = await platform.call('POST', '/console/passkeys', { token, body })
  return { token, authenticator, passkey: added.body.id as string }
}

/** Path of the link that ends a person's e-mail about their workspace. */
const unsubscribePath = async ({ actors, platform }: Stage): Promise<string> => {
  const { token, user, workspace } = await actors.signIn()
  await giveEmail(platform, token, `${unique('person')}@example.com`)
  const mail = await platform.deps.table.get(PersonMailEntity, { user_id: user.id })
  if (!mail) throw new Error('the person has no address')
  return unsubscribeUrl('', mail, workspace.id)
}

/** Signs the owner of a new developer account in by e-mail. */
const founder = async (stage: Stage) =>
  signedInByEmail(stage.platform, await emailOf(stage, (await stage.developer()).headers))

/** Creates a developer with a passkey, signed in. */
const teammateWithPasskey = async (stage: Stage) => {
  const person = await founder(stage)
  const authenticator = createAuthenticator()
  const { body: asked } = await person.call('POST', '/api/v1/dev/me/passkeys/options')
  const body = { name: 'Laptop', ...authenticator.create(asked) }
  const added = await person.call('POST', '/api/v1/dev/me/passkeys', body)
  return { ...person, authenticator, passkey: added.body.id as string }
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

/** Creates a version that waits for moderation. @returns the path of its app and of itself */
const waitingVersion = async (stage: Stage): Promise<string> => {
  const { app, owner } = await stage.listed()
  const { body: newest } = await owner.call('GET', `/api/v1/dev/apps/${app.id}/versions`)
  const manifest = { ...newest.items[0].manifest, version: '1.1.0' }
  const { body } = await owner.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifest)
  return `${app.id}/versions/${body.id}`
}

/** Changes a listed app, and returns the path of the revision that waits for a decision. */
const waitingRevision = async (stage: Stage): Promise<string> => {
  const { app, owner } = await stage.listed()
  const { body } = await owner.call('PATCH', `/api/v1/dev/apps/${app.id}`, { summary: 'Counts the stock twice.' })
  return `${app.id}/revisions/${body.pending_revision.id}`
}

/** Creates an open application for the verified badge. */
const applied = async (stage: Stage): Promise<string> => {
  const { owner } = await stage.submittable()
  return (await owner.call('POST', '/api/v1/dev/verification', APPLICATION)).body.id
}

/** Valid calls, by endpoint id, that need a state or a value which {@link derivedSample} can't know. */
export const samples: Record<string, (stage: Stage) => Promise<Sample>> = {
  'oauth.authorize.begin': async (stage) => {
    return { path: `/oauth/authorize?${new URLSearchParams(authorizeQuery(await stage.integration(), stage))}` }
  },
  'connect.authorize.begin': async (stage) => ({
    path: `/connect/authorize?${new URLSearchParams(authorizeQuery(await stage.integration(), stage))}`,
  }),
  'connect.request.push': async (stage) => {
    const client = await stage.integration()
    const body = new URLSearchParams({ ...authorizeQuery(client, stage), client_secret: client.clientSecret })
    return { path: '/connect/par', headers: FORM, body: body.toString() }
  },
  'connect.token.exchange': async (stage) => {
    const { app, clientSecret, tokens } = await stage.actors.connected()
    // The grant notes when it was last used, which is later than its beginning.
    stage.platform.clock.advance(1_000)
    const body = { client_id: app.id, client_secret: clientSecret, refresh_token: tokens.refresh_token }
    return {
      path: '/connect/token',
      headers: FORM,
      body: new URLSearchParams({ grant_type: 'refresh_token', ...body }).toString(),
    }
  },
  'connect.token.revoke': async (stage) => presented('/connect/revoke', await stage.actors.connected()),
  'connect.token.introspect': async (stage) => presented('/connect/introspect', await stage.actors.connected()),
  'oauth.token.form': async (stage) => ({
    path: '/oauth/token',
    headers: FORM,
    body: new URLSearchParams(await redemption(stage)).toString(),
  }),
  'oauth.token.json': async (stage) => ({ path: '/oauth/token.json', body: await redemption(stage) }),
  'oauth.token.revoke': async (stage) => presented('/oauth/revoke', await stage.actors.connected()),
  'oauth.token.introspect': async (stage) => presented('/oauth/introspect', await stage.actors.connected()),
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

  'connect.consent.page': fixed('/connect/consent?tg=nonce'),
  'connect.consent.miniApp': fixed('/connect/consent/mini-app?tg=nonce'),
  'connect.consent.status': async (stage) => ({
    path: `/connect/consent/status?tg=${(await askedByHost(stage)).tg}`,
  }),
  'connect.consent.read': async (stage) => {
    const { tg, person } = await askedByHost(stage)
    return { path: `/connect/consent/request?tg=${tg}`, token: person.token }
  },
  'connect.consent.decide': async (stage) => {
    const { tg, person } = await askedByHost(stage)
    const body = { tg, decision: 'approve', workspace_id: person.workspace.id }
    return { path: '/connect/consent/decision', token: person.token, body }
  },
  'docs.a2aResource.read': fixed('/.well-known/oauth-protected-resource/a2a'),
  'docs.agentResource.read': fixed('/.well-known/oauth-protected-resource/mcp/agents/helper'),

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
  'api.runs.askInput': async (stage) => {
    const { run, callback } = await stage.running()
    return { path: `/api/v1/runs/${run.id}/input-requests`, token: callback, body: { input_requests: QUESTION } }
  },
  'api.runs.answerInput': async (stage) => {
    const { app, run, responses } = await asking(stage)
    return { path: `/api/v1/runs/${run.id}/input`, token: app.token, body: { responses } }
  },
  'api.tools.invoke': async (stage) => {
    const { callback } = await stage.running()
    const body = { arguments: { type: 'order.paid', data: { n: 1 } } }
    return { path: '/api/v1/tools/emit_event/invoke', token: callback, body }
  },
  'mcp.server.call': async (stage) => ({ path: '/mcp', token: (await stage.integration()).token, body: PING }),
  'mcp.agents.call': async (stage) => {
    const { token, workspaceId } = await stage.integration()
    const { app } = await installed(stage.platform.deps, { workspaceId })
    return { path: `/mcp/agents/${app.slug}`, token, body: PING }
  },
  'a2a.card.read': async (stage) => ({ path: `${(await spoken(stage)).at}/.well-known/agent-card.json` }),
  'a2a.card.readLegacy': async (stage) => ({ path: `${(await spoken(stage)).at}/v0.3/.well-known/agent-card.json` }),
  'a2a.card.readExtended': async (stage) => ofAgent(await spoken(stage), '/extendedAgentCard'),
  'a2a.notifications.receive': async (stage) => {
    const { run, token } = await stage.followed()
    return { path: `/a2a/push/${run.id}`, headers: { 'x-a2a-notification-token': token }, body: {} }
  },
  'a2a.rpc.call': async (stage) => ofAgent(await spoken(stage), '/rpc', LIST_TASKS),
  'a2a.rpc.callLegacy': async (stage) => {
    const { at, token, task } = await withTask(stage)
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: task } }
    return { path: `${at}/v0.3/rpc`, token, body }
  },
  'a2a.message.send': async (stage) => ofAgent(await spoken(stage), '/message:send', looking()),
  'a2a.message.stream': async (stage) => ofAgent(await spoken(stage), '/message:stream', looking()),
  'a2a.tasks.list': async (stage) => ofAgent(await spoken(stage), '/tasks'),
  'a2a.tasks.read': async (stage) => ofTask(await withTask(stage)),
  'a2a.tasks.cancel': async (stage) => ofTask(await withTask(stage), ':cancel', {}),
  'a2a.tasks.follow': async (stage) => ofTask(await withTask(stage), ':subscribe'),
  'a2a.tasks.subscribe': async (stage) => ofTask(await withTask(stage), ':subscribe', {}),
  'a2a.legacy.send': async (stage) => ofLegacy(await spoken(stage), '/message:send', legacyCalling()),
  'a2a.legacy.stream': async (stage) => ofLegacy(await spoken(stage), '/message:stream', legacyCalling()),
  'a2a.legacy.read': async (stage) => ofLegacyTask(await withTask(stage)),
  'a2a.legacy.cancel': async (stage) => ofLegacyTask(await withTask(stage), ':cancel', {}),
  'a2a.legacy.follow': async (stage) => ofLegacyTask(await withTask(stage), ':subscribe'),
  'a2a.legacy.subscribe': async (stage) => ofLegacyTask(await withTask(stage), ':subscribe', {}),
  'a2a.pushes.create': async (stage) =>
    ofTask(await withTask(stage), '/pushNotificationConfigs', { url: stage.hooks.url, token: 'tell-me' }),
  'a2a.pushes.list': async (stage) => ofTask(await withTask(stage), '/pushNotificationConfigs'),
  'a2a.pushes.read': async (stage) => ofPush(await withTask(stage), ofTask),
  'a2a.pushes.delete': async (stage) => ofPush(await withTask(stage), ofTask),
  'a2a.legacy.pushes.create': async (stage) =>
    ofLegacyTask(await withTask(stage), '/pushNotificationConfigs', {
      config: { pushNotificationConfig: { url: stage.hooks.url, token: 'tell-me' } },
    }),
  'a2a.legacy.pushes.list': async (stage) => ofLegacyTask(await withTask(stage), '/pushNotificationConfigs'),
  'a2a.legacy.pushes.read': async (stage) => ofPush(await withTask(stage), ofLegacyTask),
  'a2a.legacy.pushes.delete': async (stage) => ofPush(await withTask(stage), ofLegacyTask),
  'a2a.legacy.card': async (stage) => ofLegacy(await spoken(stage), '/card'),
  'api.files.list': async (stage) => ({ path: '/api/v1/files', token: (await stage.filed()).token }),

  'api.tasks.list': async (stage) => ({ path: '/api/v1/tasks', token: (await stage.tasked()).app.token }),
  'api.tasks.read': async (stage) => {
    const { app, task } = await stage.tasked()
    const body = { text: 'Which of the two?' }
    await stage.platform.call('POST', `/api/v1/tasks/${task.id}/question`, { token: app.token, body })
    return { path: `/api/v1/tasks/${task.id}`, token: app.token }
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

  'console.logos.read': fixed(logoPath({ id: 'app_01kae5m1v8w6c3x9q2r7t4y0zn', name: 'Greeter' })),
  'console.screenshots.read': async (stage) => {
    const { owner, app } = await stage.developer()
    const image = pngOf(320, [80, 90, 200]).toString('base64')
    const { body } = await owner.call('POST', `/api/v1/dev/apps/${app.id}/screenshots`, { image })
    return { path: body.path }
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
  'console.bot.webAppAuth': async ({ telegram }) => ({
    path: '/console/bot/webapp-auth',
    body: { init_data: telegram.initData(telegram.person({ first_name: unique('ann') })) },
  }),
  'console.bot.widgetAuth': async ({ telegram }) => ({
    path: '/console/bot/widget-auth',
    body: { ...telegram.widget(telegram.person({ first_name: unique('ann') })) },
  }),
  'console.bot.receiveUpdate': async ({ telegram }) => {
    const from = telegram.person({ first_name: unique('ann') })
    const message = { message_id: 1, date: 1, chat: { id: from.id, type: 'private' }, from, text: '/start' }
    return {
      path: '/console/bot/webhook',
      headers: { 'x-telegram-bot-api-secret-token': TEST_BOT.webhookSecret },
      body: { update_id: from.id, message },
    }
  },
  'console.runs.decide': async (stage) => {
    const { app, run, step } = await stage.awaiting()
    const body = { decision: 'approve', comment: 'Only this once.' }
    return { path: `/console/runs/${run.id}/steps/${step}/decision`, token: app.person.token, body }
  },
  'console.approvalRules.set': async (stage) => ({
    path: '/console/settings/approvals',
    token: (await stage.integration()).person.token,
    body: { rules: [{ name: 'Payments', hosts: ['*.bank.example'], approvers: { role: 'owner', user_ids: [] } }] },
  }),
  'console.away.set': async (stage) => {
    const { person, workspaceId } = await stage.integration()
    const { user } = await stage.member(workspaceId)
    const until = new Date(stage.platform.clock.now() + 86_400_000).toISOString()
    return { path: '/console/me/away', token: person.token, body: { delegate_id: user.id, until } }
  },
  'console.away.end': async (stage) => {
    const { person, workspaceId } = await stage.integration()
    const { user } = await stage.member(workspaceId)
    const body = { delegate_id: user.id, until: new Date(stage.platform.clock.now() + 86_400_000).toISOString() }
    await stage.platform.call('PUT', '/console/me/away', { token: person.token, body })
    return { path: '/console/me/away', token: person.token }
  },
  'console.runs.again': async (stage) => {
    const { app, run } = await stage.running()
    return {
      path: `/console/runs/${run.id}/again`,
      token: app.person.token,
      body: { input: { question: 'How many blue mugs are in stock?' } },
    }
  },
  'console.runs.trace': async (stage) => {
    const { app, run, callback } = await stage.awaiting()
    await stage.platform.call('POST', '/api/v1/runs', { token: callback, body: { trigger: 'further' } })
    return { path: `/console/runs/${run.id}/trace`, token: app.person.token }
  },
  'console.inbox.list': async (stage) => {
    const { app } = await stage.awaiting()
    return { path: '/console/inbox', token: app.person.token }
  },
  'console.inbox.snooze': async (stage) => {
    const { app, step } = await stage.awaiting()
    const until = new Date(stage.platform.clock.now() + 3_600_000).toISOString()
    return { path: '/console/inbox/snoozes', token: app.person.token, body: { ids: [step], until } }
  },
  'console.approvals.decide': async (stage) => {
    const { app, run, step } = await stage.awaiting()
    const body = { decision: 'reject', calls: [{ run_id: run.id, step_id: step }] }
    return { path: '/console/approvals/decisions', token: app.person.token, body }
  },
  'console.runs.answerInput': async (stage) => {
    const { app, run, responses } = await asking(stage)
    return { path: `/console/runs/${run.id}/input`, token: app.person.token, body: { responses } }
  },
  'console.runs.cancel': async (stage) => {
    const { app, run } = await asking(stage)
    return { path: `/console/runs/${run.id}/cancel`, token: app.person.token }
  },
  'console.inputRequests.list': async (stage) => {
    const { app } = await asking(stage)
    return { path: '/console/input-requests', token: app.person.token }
  },
  'console.passkeys.list': async (stage) => ({
    path: '/console/passkeys',
    token: (await personWithPasskey(stage)).token,
  }),
  'console.passkeys.begin': async (stage) => ({
    path: '/console/passkeys/options',
    token: (await stage.actors.signIn()).token,
  }),
  'console.passkeys.add': async (stage) => {
    const { token } = await stage.actors.signIn()
    const authenticator = createAuthenticator()
    const { body: asked } = await stage.platform.call('POST', '/console/passkeys/options', { token })
    return { path: '/console/passkeys', token, body: { name: 'Laptop', ...authenticator.create(asked) } }
  },
  'console.passkeys.remove': async (stage) => {
    const { token, passkey } = await personWithPasskey(stage)
    return { path: `/console/passkeys/${passkey}`, token }
  },
  'console.passkeys.signIn': async (stage) => {
    const { authenticator } = await personWithPasskey(stage)
    const { body: asked } = await stage.platform.call('POST', '/console/passkeys/sign-in/options')
    return { path: '/console/passkeys/sign-in', body: authenticator.answer(asked) }
  },
  'console.installations.add': async (stage) => {
    const { app } = await stage.inReview()
    await stage.platform.call('POST', `/admin/apps/${app.id}/approve`, { headers: ADMIN })
    const { token } = await stage.actors.signIn()
    return { path: '/console/installations', token, body: { slug: app.slug, scopes: ['runs:write'] } }
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
  'console.installations.setPolicy': async (stage) => {
    const { installation, person } = await stage.integration()
    return {
      path: `/console/installations/${installation.id}/policy`,
      token: person.token,
      body: { allowed_callers: ['stock-helper'], denied_tools: ['http_fetch'] },
    }
  },
  'console.settings.setBans': async (stage) => ({
    path: '/console/settings/bans',
    token: (await stage.integration()).person.token,
    body: { denied_tools: ['http_fetch'], denied_scopes: ['chat:write'] },
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
  'console.me.delete': async (stage) => ({ path: '/console/me', token: (await stage.actors.signIn()).token }),
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
    // Uses a key: the call ends a session, which couldn't ask for a lost answer again.
    const { body } = await stage.platform.call('POST', `/admin/admins/${id}/keys`, {
      headers: ADMIN,
      body: { name: 'ci' },
    })
    const change = { current_password: password, new_password: 'another good password', keep_keys: true }
    return { path: '/admin/me/password', headers: { 'x-admin-key': body.key }, body: change }
  },
  'admin.sessions.signOut': async (stage) => ({
    path: '/admin/session',
    token: (await signedInStaff(stage)).token,
  }),
  'admin.sessions.list': async (stage) => ({ path: '/admin/me/sessions', token: (await signedInStaff(stage)).token }),
  'admin.sessions.end': async (stage) => {
    const { token, session } = await signedInStaff(stage)
    return { path: `/admin/me/sessions/${session}`, token }
  },
  'admin.sessions.endOthers': async (stage) => ({
    path: '/admin/me/sessions',
    token: (await signedInStaff(stage)).token,
  }),
  'admin.sessions.listOf': async (stage) => ({
    path: `/admin/admins/${(await signedInStaff(stage)).id}/sessions`,
    headers: ADMIN,
  }),
  'admin.sessions.endAll': async (stage) => ({
    path: `/admin/admins/${(await signedInStaff(stage)).id}/sessions`,
    headers: ADMIN,
  }),
  'admin.passkeys.list': async (stage) => ({ path: '/admin/me/passkeys', token: (await withPasskey(stage)).token }),
  'admin.passkeys.begin': async (stage) => ({
    path: '/admin/me/passkeys/options',
    token: (await signedInStaff(stage)).token,
  }),
  'admin.passkeys.add': async (stage) => {
    const { token } = await signedInStaff(stage)
    return { path: '/admin/me/passkeys', token, body: (await newPasskey(stage, token)).body }
  },
  'admin.passkeys.remove': async (stage) => {
    const { token, passkey } = await withPasskey(stage)
    return { path: `/admin/me/passkeys/${passkey}`, token }
  },
  'admin.passkeys.reset': async (stage) => ({
    path: `/admin/admins/${(await withPasskey(stage)).id}/passkeys`,
    headers: ADMIN,
  }),
  'admin.passkeys.beginConfirmation': async (stage) => ({
    path: '/admin/me/confirm/passkey/options',
    token: (await withPasskey(stage)).token,
  }),
  'admin.passkeys.confirm': async (stage) => {
    const { token, authenticator } = await withPasskey(stage)
    const { body: asked } = await stage.platform.call('POST', '/admin/me/confirm/passkey/options', { token })
    stage.platform.clock.advance(1_000)
    return { path: '/admin/me/confirm/passkey', token, body: authenticator.answer(asked) }
  },
  'admin.passkeys.confirmWithPassword': async (stage) => {
    const { token, password } = await signedInStaff(stage)
    stage.platform.clock.advance(1_000)
    return { path: '/admin/me/confirm/password', token, body: { password } }
  },
  'admin.developers.list': async (stage) => {
    await stage.developer()
    return { path: '/admin/developers', headers: ADMIN }
  },
  'admin.developers.read': async (stage) => ({
    path: `/admin/developers/${await developerId(stage)}`,
    headers: ADMIN,
  }),
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
  'admin.metrics.read': fixed('/admin/metrics?days=2&tz=Europe/Zurich', { headers: ADMIN }),
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
  'console.files.renewUpload': async (stage) => {
    const body = { name: 'film.mp4', content_type: 'video/mp4', size: 5_000_000 }
    const { token, id } = await filedAs(stage, body)
    // Otherwise the new address ends when the first one does, and nothing changes.
    stage.platform.clock.advance(1_000)
    return { path: `/console/files/${id}/upload`, token }
  },
  'console.files.renameFolder': async (stage) => {
    const { token, id } = await filedAs(stage, { kind: 'folder', name: 'Contacts' })
    return { path: `/console/folders/${id}`, token, body: { name: 'Customers' } }
  },
  'console.files.deleteFolder': async (stage) => {
    const { token, id } = await filedAs(stage, { kind: 'folder', name: 'Contacts' })
    return { path: `/console/folders/${id}`, token }
  },
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
  'console.grants.resume': async (stage) => {
    const { grant, person } = await stage.integration()
    const path = `/console/grants/${grant.id}`
    await stage.platform.call('POST', `${path}/pause`, { token: person.token })
    return { path: `${path}/resume`, token: person.token }
  },
  'console.connectedWebhooks.list': async (stage) => {
    const { token } = await connectedWebhook(stage)
    return { path: '/console/connected-webhooks', token }
  },
  'console.connectedWebhooks.resume': async (stage) => {
    const { token, path } = await connectedWebhook(stage)
    await stage.platform.call('POST', `${path}/pause`, { token })
    return { path: `${path}/resume`, token }
  },
  'console.sessions.end': async (stage) => {
    const { person } = await stage.integration()
    const { body } = await stage.platform.call('GET', '/console/sessions', { token: person.token })
    return { path: `/console/sessions/${body.items[0].id}`, token: person.token }
  },
  'console.publishers.get': async (stage) => {
    const { app } = await stage.listed()
    const { token } = (await stage.integration()).person
    const { body } = await stage.platform.call('GET', `/console/install/${app.slug}`, { token })
    return { path: `/console/publishers/${body.app.developer_id}`, token }
  },
  'console.budgets.list': async (stage) => ({ path: '/console/budgets', token: (await budgeted(stage)).token }),
  'console.budgets.add': async (stage) => ({
    path: '/console/budgets',
    token: (await stage.integration()).person.token,
    body: { subject: { type: 'person' }, period: 'month', limits: { tokens: 1_000 } },
  }),
  'console.budgets.change': async (stage) => {
    const { token, id } = await budgeted(stage)
    return { path: `/console/budgets/${id}`, token, body: { limits: { runs: 20 } } }
  },
  'console.budgets.remove': async (stage) => {
    const { token, id } = await budgeted(stage)
    return { path: `/console/budgets/${id}`, token }
  },
  'console.updates.read': async (stage) => {
    const { app } = await stage.awaiting()
    await stage.platform.drain()
    // The first read after a change counts unread notifications. This is one of the many later reads.
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
  'console.notifications.setPreferences': async (stage) => ({
    path: '/console/notifications/preferences',
    token: (await stage.integration()).person.token,
    body: { messaging_app: { muted: false, off: ['agent.notice'], muted_until: '2099-01-01T00:00:00.000+00:00' } },
  }),
  'console.email.set': async (stage) => ({
    path: '/console/email',
    token: (await stage.actors.signIn()).token,
    body: { email: 'ada@example.com' },
  }),
  'console.email.confirm': async (stage) => {
    const { token } = await stage.actors.signIn()
    const body = { code: await requestEmailCode(stage.platform, token, 'ada@example.com') }
    return { path: '/console/email/confirm', token, body }
  },
  'console.email.askToUnsubscribe': async (stage) => ({ path: await unsubscribePath(stage) }),
  'console.email.unsubscribe': async (stage) => ({ path: await unsubscribePath(stage) }),
  'console.views.set': async (stage) => ({
    path: '/console/views',
    token: (await stage.integration()).person.token,
    body: { views: [{ screen: 'runs', name: 'Failed today', query: 'status=failed' }] },
  }),
  'console.runs.list': async (stage) => ({ path: '/console/runs', token: (await stage.running()).app.person.token }),
  'console.runs.stream': async (stage) => {
    const { app, run } = await stage.running()
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
    return { path: `/console/runs/${run.id}/stream`, token: app.person.token }
  },

  'developer.account.register': async () => ({
    path: '/api/v1/dev/register',
    body: { email: `${unique('sample')}@example.com`, name: 'Ada', company: 'Example Ltd' },
  }),
  'developer.keys.list': async (stage) => {
    const { owner, headers } = await stage.developer()
    await owner.call('POST', '/api/v1/dev/me/keys', { name: unique('key') })
    return { path: '/api/v1/dev/me/keys', headers }
  },
  'developer.keys.create': async (stage) => ({
    path: '/api/v1/dev/me/keys',
    headers: (await stage.developer()).headers,
    body: { name: unique('key'), expires_in_days: 30 },
  }),
  'developer.keys.delete': async (stage) => {
    const { owner, headers } = await stage.developer()
    const { body } = await owner.call('POST', '/api/v1/dev/me/keys', { name: unique('key') })
    return { path: `/api/v1/dev/me/keys/${body.id}`, headers }
  },
  'developer.keys.edit': async (stage) => {
    const { owner, headers } = await stage.developer()
    const { body } = await owner.call('POST', '/api/v1/dev/me/keys', { name: unique('key') })
    return { path: `/api/v1/dev/me/keys/${body.id}`, headers, body: { name: unique('key'), role: 'viewer' } }
  },
  'developer.members.list': async (stage) => {
    const { owner, headers } = await stage.developer()
    await newTeammate(stage.platform, owner, 'viewer')
    return { path: '/api/v1/dev/members', headers }
  },
  'developer.members.invite': async (stage) => {
    const { owner, headers } = await stage.developer()
    await confirmEmail(stage.platform, owner)
    return { path: '/api/v1/dev/members', headers, body: { email: `${unique('bo')}@example.com`, role: 'developer' } }
  },
  'developer.members.edit': async (stage) => {
    const { owner, headers } = await stage.developer()
    const { id } = await newTeammate(stage.platform, owner, 'viewer')
    return { path: `/api/v1/dev/members/${id}`, headers, body: { role: 'developer' } }
  },
  'developer.members.remove': async (stage) => {
    const { owner, headers } = await stage.developer()
    const { id } = await newTeammate(stage.platform, owner, 'viewer')
    return { path: `/api/v1/dev/members/${id}`, headers }
  },
  'developer.members.join': async (stage) => {
    const { code } = await invitedTeammate(stage.platform, (await stage.developer()).owner, 'viewer')
    return { path: '/api/v1/dev/members/join', body: { token: code, name: 'Bo Example' } }
  },
  'developer.passkeys.list': async (stage) => {
    const { headers } = await teammateWithPasskey(stage)
    return { path: '/api/v1/dev/me/passkeys', headers }
  },
  'developer.passkeys.begin': async (stage) => ({
    path: '/api/v1/dev/me/passkeys/options',
    headers: (await founder(stage)).headers,
  }),
  'developer.passkeys.add': async (stage) => {
    const { headers, call } = await founder(stage)
    const { body: asked } = await call('POST', '/api/v1/dev/me/passkeys/options')
    const body = { name: 'Laptop', ...createAuthenticator().create(asked) }
    return { path: '/api/v1/dev/me/passkeys', headers, body }
  },
  'developer.passkeys.remove': async (stage) => {
    const { headers, passkey } = await teammateWithPasskey(stage)
    return { path: `/api/v1/dev/me/passkeys/${passkey}`, headers }
  },
  'developer.passkeys.signIn': async (stage) => {
    const { authenticator } = await teammateWithPasskey(stage)
    const { body: asked } = await stage.platform.call('POST', '/api/v1/dev/passkeys/sign-in/options')
    return { path: '/api/v1/dev/passkeys/sign-in', body: authenticator.answer(asked) }
  },
  'developer.account.claimVendor': async (stage) => ({
    path: '/api/v1/dev/me/vendor',
    headers: (await stage.developer()).headers,
    body: { vendor: unique('vendor') },
  }),
  'developer.email.confirmProof': async (stage) => {
    const { owner, headers } = await stage.developer()
    await owner.call('POST', '/api/v1/dev/me/email-proof')
    return { path: '/api/v1/dev/me/email-proof/confirm', headers, body: { token: mailedCode(stage) } }
  },
  'developer.account.recover': async (stage) => ({
    path: '/api/v1/dev/recover',
    body: { email: await emailOf(stage, (await stage.developer()).headers) },
  }),
  'developer.account.confirmRecovery': async (stage) => {
    const email = await emailOf(stage, (await stage.developer()).headers)
    await stage.platform.call('POST', '/api/v1/dev/recover', { body: { email } })
    return { path: '/api/v1/dev/recover/confirm', body: { token: mailedCode(stage) } }
  },
  'developer.sandbox.session': async (stage) => ({
    path: '/api/v1/dev/sandbox/session',
    headers: (await stage.developer()).headers,
    body: { as: 'customer' },
  }),
  'developer.session.request': async (stage) => ({
    path: '/api/v1/dev/sign-in',
    body: { email: await emailOf(stage, (await stage.developer()).headers) },
  }),
  'developer.session.start': async (stage) => ({
    path: '/api/v1/dev/session',
    body: { api_key: (await stage.developer()).headers['x-developer-key'] },
  }),
  'developer.session.end': async (stage) => {
    const body = { api_key: (await stage.developer()).headers['x-developer-key'] }
    const started = await stage.platform.call('POST', '/api/v1/dev/session', { body })
    return { path: '/api/v1/dev/session', headers: { 'x-developer-key': started.body.session_key } }
  },
  'developer.apps.create': async (stage) => {
    const { headers } = await stage.developer()
    const body = { slug: unique('sample'), name: 'Sample', type: 'agent', requested_scopes: ['runs:write'] }
    return { path: '/api/v1/dev/apps', headers, body }
  },
  'developer.apps.read': async (stage) => {
    const { app, headers } = await stage.submittable()
    return { path: `/api/v1/dev/apps/${app.id}`, headers }
  },
  'developer.apps.submit': async (stage) => {
    const { app, headers } = await stage.submittable()
    return { path: `/api/v1/dev/apps/${app.id}/submit`, headers }
  },
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
  'developer.requests.list': async (stage) => {
    const { headers } = await stage.developer()
    await stage.wished()
    return { path: '/api/v1/dev/requests?limit=100', headers }
  },
  'developer.reviews.list': async (stage) => ({
    path: '/api/v1/dev/reviews?unanswered=true',
    headers: (await stage.reviewed()).headers,
  }),
  'developer.apps.reviews.list': async (stage) => {
    const { app, headers } = await stage.reviewed()
    return { path: `/api/v1/dev/apps/${app.id}/reviews`, headers }
  },
  'console.reviews.write': async (stage) => {
    const { app, person } = await stage.integration()
    return { path: `/console/apps/${app.id}/review`, token: person.token, body: { rating: 4, text: 'Quick.' } }
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
  'developer.apps.runs.exchanges': async (stage) => {
    const { owner, headers, app } = await stage.published()
    const { body: sandbox } = await owner.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const { body: run } = await stage.platform.call('POST', '/api/v1/runs', { token: sandbox.access_token, body: {} })
    await stage.platform.drain()
    return { path: `/api/v1/dev/apps/${app.id}/runs/${run.id}/exchanges`, headers }
  },
  'developer.apps.testRun': async (stage) => {
    const { app, headers } = await stage.published()
    return { path: `/api/v1/dev/apps/${app.id}/test-run`, headers, body: { input: { q: 1 } }, works: true }
  },
  'developer.versions.publish': async (stage) => {
    const { owner, app, headers } = await stage.developer()
    return { path: `/api/v1/dev/apps/${app.id}/versions`, headers, body: stage.manifestFor(owner, app) }
  },
  'developer.versions.promote': async (stage) => {
    const { app, headers } = await stage.published()
    return { path: `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, headers }
  },
  'developer.manifest.validate': async (stage) => {
    const { owner, app } = await stage.developer()
    return { path: '/api/v1/dev/manifest/validate', body: { ...stage.manifestFor(owner, app), version: 'one' } }
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
  'console.conversations.read': async (stage) => {
    const { token, path } = await stage.chat()
    return { path: path.replace('/messages', ''), token }
  },
  'console.conversations.markRead': async (stage) => {
    const { token, path } = await stage.chat()
    const { body } = await stage.platform.call('POST', path, { token, body: { text: 'Hello.' } })
    return { path: path.replace('/messages', '/read'), token, body: { message_id: body.id } }
  },
  // Enabled is the default, and calls that change nothing aren't audited.
  'console.settings.setCrossAgent': async (stage) => ({
    path: '/console/settings/cross-agent',
    token: (await stage.integration()).person.token,
    body: { enabled: false },
  }),
  'console.settings.setPrimaryAgent': async (stage) => {
    const { installation, person } = await stage.integration()
    return {
      path: '/console/settings/primary-agent',
      token: person.token,
      body: { installation_id: installation.id },
    }
  },
  'admin.settings.setDeniedTools': fixed('/admin/settings/denied-tools', {
    headers: ADMIN,
    body: { denied_tools: [] },
  }),
  'api.conversations.list': async (stage) => {
    const { token } = await stage.conversation()
    return { path: '/api/v1/conversations', token }
  },
  'api.conversations.messages.list': async (stage) => {
    const { token, id } = await stage.conversation()
    return { path: `/api/v1/conversations/${id}/messages`, token }
  },

  'admin.account.signIn': fixed('/admin/auth/login', {
    body: { email: 'admin@example.com', password: 'local-admin-password' },
  }),
  'admin.review.list': async (stage) => {
    await stage.inReview()
    return { path: '/admin/review', headers: ADMIN }
  },
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
  'admin.revisions.approve': async (stage) => ({
    path: `/admin/apps/${await waitingRevision(stage)}/approve`,
    headers: ADMIN,
  }),
  'admin.revisions.reject': async (stage) => ({
    path: `/admin/apps/${await waitingRevision(stage)}/reject`,
    headers: ADMIN,
    body: { reason: 'The summary misleads.' },
  }),
  'admin.appMessages.list': async (stage) => {
    const { id } = (await stage.inReview()).app
    await stage.platform.call('POST', `/admin/apps/${id}/messages`, { headers: ADMIN, body: { text: 'Which?' } })
    return { path: `/admin/apps/${id}/messages`, headers: ADMIN }
  },
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
  'console.messenger.chats.list': async ({ messenger }) => {
    const { accountId, token } = await messenger.chat()
    return { path: `/console/messenger/chats?account_id=${accountId}`, token }
  },
  'console.messenger.chats.assign': async ({ messenger }) => {
    const { chatId, token, app } = await messenger.chat()
    return { path: `/console/messenger/chats/${chatId}`, token, body: { installation_id: app.installation.id } }
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
  'developer.page.read': fixed('/developers'),
  'developer.page.asset': async ({ platform }) => {
    const page = await platform.call('GET', '/developers')
    return { path: `/${/developers\/assets\/[\w.-]+/.exec(page.text)?.[0]}` }
  },
  'docs.page.read': fixed('/docs'),
  'docs.guide.read': fixed('/docs/quickstart'),
  'docs.llms.read': fixed('/llms.txt'),
  'docs.llmsFull.read': fixed('/llms-full.txt'),
  'docs.assets.read': async ({ platform }) => {
    const page = await platform.call('GET', '/docs')
    return { path: `/${/docs\/assets\/[\w.-]+/.exec(page.text)?.[0]}` }
  },
  'docs.openapi.read': fixed('/openapi.json'),
  'docs.openapiPart.read': fixed('/openapi/integration.json'),
}
