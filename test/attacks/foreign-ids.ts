import { TOOLS } from '#shared/agents/tools/catalogue.ts'
import { hostActors } from '#testkit/hosts.ts'
import type { Stage } from '#testkit/stage.ts'
import { endpoints, partsOf, sentSchema } from './support.ts'
import type { Tenant } from './tenant.ts'

interface Attack {
  /** By default, the endpoint's with the attacker's own ids. */
  path?: string
  query?: Record<string, string>
  body?: unknown
}

type MakeAttack = (theirs: Tenant, mine: Tenant, stage: Stage) => Attack | Promise<Attack>

const TAKES_IDS = /(^|\.)([a-z]+_id|since|mention|attachments\[\])$/
/**
 * Names that end like ids but aren't ids of records: a client identifies itself, Telegram counts, a time or number is
 * given. A challenge is part of a ceremony, whose every part `passkeys` attacks exchange.
 */
const NO_IDS =
  /client_id|update_id|challenge_id|^(console\.audit|console\.runs\.list|console\.updates|admin|api\.webhooks\.recover|developer\.apps\.logs)\b.* since$/

/** Every declared field of a body, a query or a tool's arguments that takes an id. */
export const fieldsWithIds = (): string[] => {
  const declared = endpoints.flatMap(({ id, body, query }) =>
    [body, query].flatMap((schema) => (schema ? partsOf(sentSchema(schema())).map(([path]) => `${id} ${path}`) : [])),
  )
  const ofTools = Object.entries(TOOLS).flatMap(([name, { input }]) =>
    partsOf(sentSchema(input())).map(([path]) => `api.tools.invoke ${path} (${name})`),
  )
  const takes = (name: string) => TAKES_IDS.test(name.split(' ')[1] ?? '') && !NO_IDS.test(name)
  return [...new Set([...declared, ...ofTools])].filter(takes)
}

const FILE = { name: 'a.txt', content_type: 'text/plain', content: 'hello' }

const invoking =
  (tool: string, args: (theirs: Tenant) => object): MakeAttack =>
  (theirs) => ({ path: `/api/v1/tools/${tool}/invoke`, body: { arguments: args(theirs) } })

/** Creates a schedule that events start. */
const eventSchedule = async ({ token }: Tenant, { platform }: Stage): Promise<string> => {
  const body = { name: 'Orders', start: { input: {} }, when: { event: 'custom.order.paid' } }
  return (await platform.call('POST', '/api/v1/schedules', { token, body })).body.id
}

/** By endpoint and field: a call of the attacker's own that names a record of the other tenant. */
export const foreignIds: Record<string, MakeAttack> = {
  'oauth.consent.decide workspace_id': async (theirs, mine, stage) => {
    const { app } = await stage.integration()
    const tg = await stage.actors.link(app, { code_challenge: stage.pkce().challenge })
    await stage.actors.open(mine.owner, tg)
    return { body: { tg, decision: 'approve', workspace_id: theirs.workspaceId } }
  },
  'connect.consent.decide workspace_id': async (theirs, mine, stage) => {
    const host = hostActors(stage.platform)
    const tg = await host.link(await host.register())
    await host.open(mine.owner, tg)
    return { body: { tg, decision: 'approve', workspace_id: theirs.workspaceId } }
  },
  'api.events.list since': (theirs) => ({ query: { since: theirs.event } }),
  'api.files.create folder_id': (theirs) => ({
    body: { ...FILE, folder_id: theirs.folder },
  }),
  'api.files.list folder_id': (theirs) => ({ query: { folder_id: theirs.folder } }),
  'api.conversations.messages.write attachments[]': (theirs) => ({
    body: { text: 'Look.', attachments: [theirs.file] },
  }),
  'api.tools.invoke run_id': (theirs) => ({
    path: '/api/v1/tools/workspace_info/invoke',
    body: { run_id: theirs.run, arguments: {} },
  }),
  'api.tools.invoke user_id (notify_user)': invoking('notify_user', ({ user }) => ({
    title: 'A',
    body: 'B',
    user_id: user,
  })),
  'api.tools.invoke task_id (ask_user)': invoking('ask_user', ({ task }) => ({ question: 'Which?', task_id: task })),
  'api.tools.invoke folder_id (save_file)': invoking('save_file', ({ folder }) => ({
    name: 'a.txt',
    content: 'hello',
    folder_id: folder,
  })),
  'console.runs.list installation_id': (theirs) => ({
    query: { installation_id: theirs.installation },
  }),
  'console.schedules.list installation_id': (theirs) => ({
    query: { installation_id: theirs.installation },
  }),
  'console.schedules.run event_id': async (theirs, mine, stage) => ({
    path: `/console/schedules/${await eventSchedule(mine, stage)}/run`,
    body: { event_id: theirs.event },
  }),
  'api.schedules.run event_id': async (theirs, mine, stage) => ({
    path: `/api/v1/schedules/${await eventSchedule(mine, stage)}/run`,
    body: { event_id: theirs.event },
  }),
  'console.schedules.listProposals installation_id': (theirs) => ({
    query: { installation_id: theirs.installation },
  }),
  'console.schedules.create installation_id': (theirs) => ({
    body: {
      installation_id: theirs.installation,
      name: 'Summary',
      start: { input: {} },
      when: { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' },
    },
  }),
  'console.tasks.create installation_id': (theirs) => ({
    body: { title: 'Count', installation_id: theirs.installation },
  }),
  'console.tasks.edit installation_id': (theirs) => ({
    body: { installation_id: theirs.installation },
  }),
  'console.tasks.list assignee_id': (theirs) => ({
    query: { assignee_id: theirs.installation },
  }),
  'console.tasks.create user_id': (theirs) => ({
    body: { title: 'Order paper', user_id: theirs.user },
  }),
  'console.tasks.create attachments[]': (theirs) => ({
    body: { title: 'Order paper', attachments: [theirs.file] },
  }),
  'console.tasks.edit user_id': (theirs) => ({
    body: { user_id: theirs.user },
  }),
  'console.tasks.edit attachments[]': (theirs) => ({
    body: { attachments: [theirs.file] },
  }),
  'console.tasks.answer attachments[]': (theirs) => ({
    body: { text: 'Look.', attachments: [theirs.file] },
  }),
  'console.tasks.run installation_id': (theirs) => ({
    body: { installation_id: theirs.installation },
  }),
  'console.conversations.list installation_id': (theirs) => ({
    query: { installation_id: theirs.installation },
  }),
  'console.conversations.open installation_id': (theirs) => ({
    body: { installation_id: theirs.installation },
  }),
  'console.conversations.messages.write attachments[]': (theirs) => ({
    body: { text: 'Look.', attachments: [theirs.file] },
  }),
  'console.conversations.markRead message_id': (theirs) => ({
    body: { message_id: theirs.chatMessage },
  }),
  'console.away.set delegate_id': (theirs, _mine, { platform }) => ({
    body: { delegate_id: theirs.user, until: new Date(platform.clock.now() + 86_400_000).toISOString() },
  }),
  'console.approvals.decide calls[].run_id': (theirs, mine) => ({
    body: { decision: 'reject', calls: [{ run_id: theirs.run, step_id: mine.step }] },
  }),
  'console.approvals.decide calls[].step_id': (theirs, mine) => ({
    body: { decision: 'reject', calls: [{ run_id: mine.run, step_id: theirs.step }] },
  }),
  'console.conversations.messages.write mention': (theirs) => ({
    body: { text: 'Look.', mention: theirs.installation },
  }),
  'console.settings.setPrimaryAgent installation_id': (theirs) => ({
    body: { installation_id: theirs.installation },
  }),
  'console.files.list folder_id': (theirs) => ({ query: { folder_id: theirs.folder } }),
  'console.files.create folder_id': (theirs) => ({
    body: { ...FILE, folder_id: theirs.folder },
  }),
  'console.files.edit folder_id': (theirs) => ({
    body: { folder_id: theirs.folder },
  }),
  'console.session.switchWorkspace workspace_id': (theirs) => ({
    body: { workspace_id: theirs.workspaceId },
  }),
  'console.abuseReports.create run_id': (theirs, mine) => ({
    body: { app_id: mine.app.app.id, text: 'It asks for passwords.', run_id: theirs.run },
  }),
  'console.abuseReports.create app_id': (_theirs, mine) => ({
    body: { app_id: mine.installation, text: 'It asks for passwords.' },
  }),
  'developer.apps.logs run_id': (theirs) => ({
    query: { run_id: theirs.run },
  }),
  'developer.apps.logs request_id': (theirs) => ({
    query: { request_id: `req_${theirs.run.slice(4)}` },
  }),
  'developer.apps.logs installation_id': (theirs) => ({
    query: { installation_id: theirs.installation },
  }),
  'developer.listen.stream app_id': (theirs) => ({
    query: { app_id: theirs.developer.app.id },
  }),
  'developer.listen.end app_id': (theirs) => ({
    query: { app_id: theirs.developer.app.id, listener: `lsn_${theirs.run.slice(4)}` },
  }),
  'developer.sandbox.trigger app_id': (theirs) => ({
    body: { app_id: theirs.developer.app.id, type: 'run.succeeded' },
  }),
  'console.messenger.chats.list account_id': (theirs) => ({
    query: { account_id: theirs.messenger.accountId },
  }),
  'console.messenger.chats.assign installation_id': (theirs) => ({
    body: { installation_id: theirs.installation },
  }),
}
