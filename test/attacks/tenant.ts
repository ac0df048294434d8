import { RunExchangeEntity } from '#shared/agents/exchanges/entity.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { FolderEntity } from '#shared/work/files/entity.ts'
import { A2A } from '#testkit/a2a.ts'
import { invited } from '#testkit/developers.ts'
import { succeeded } from '#testkit/platform.ts'
import type { Stage } from '#testkit/stage.ts'
import { bearer } from './support.ts'

type Headers = Record<string, string>

/** Stores what a run in the sandbox exchanged with its agent. @returns the run's id */
const exchanged = async ({ platform }: Stage, app_id: string): Promise<string> => {
  const now = platform.clock.now()
  const run_id = newId('run', now)
  const request = { headers: {}, body: '{}', truncated: false }
  await platform.deps.table.transact([
    RunExchangeEntity.create({
      run_id,
      app_id,
      workspace_id: newId('workspace', now),
      sent_at: now,
      attempt: 1,
      url: 'https://agent.example.com/',
      request,
      response: { ...request, status: 200 },
      duration_ms: 1,
      created_at: now,
    }),
  ])
  return run_id
}

/** A customer, a developer and a messenger account with one record of every kind, and the ids of their owners. */
export const createTenant = async (stage: Stage) => {
  const { platform } = stage
  const { app, run, callback, step } = await stage.awaiting()
  const { token, workspaceId, installation } = app
  const owner = app.person.token
  const made = async (path: string, sent: { token: string; body: unknown }): Promise<{ id: string }> => {
    platform.clock.advance(1_000)
    return succeeded(platform.call('POST', path, sent))
  }
  const now = platform.clock.now()
  const folder = { ...stampOf(newId('folder', now)), workspace_id: workspaceId, name: 'Contacts' }
  await platform.deps.table.transact([FolderEntity.create(folder)])

  const webhook = await made('/api/v1/webhooks', { token, body: { url: stage.hooks.url, events: ['custom.*'] } })
  const emitted = { arguments: { type: 'custom.order.paid', data: {} } }
  await made('/api/v1/tools/emit_event/invoke', { token, body: emitted })
  await platform.drain()
  const deliveries = await platform.call('GET', `/api/v1/webhooks/${webhook.id}/deliveries`, { token })
  const events = await platform.call('GET', '/api/v1/events', { token })
  const content = { content_type: 'text/plain', content: 'hello' }
  const file = await made('/api/v1/files', { token, body: { name: 'a.txt', ...content } })
  const task = await made('/console/tasks', {
    token: owner,
    body: { title: 'Count', installation_id: installation.id },
  })
  const conversation = await made('/console/conversations', {
    token: owner,
    body: { installation_id: installation.id },
  })
  const said = await made(`/console/conversations/${conversation.id}/messages`, {
    token: owner,
    body: { text: 'Hello.' },
  })
  const schedule = await made('/console/schedules', {
    token: owner,
    body: {
      installation_id: installation.id,
      name: 'Weekly summary',
      start: { input: {} },
      when: { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' },
    },
  })
  const budget = await made('/console/budgets', {
    token: owner,
    body: { subject: { type: 'workspace' }, period: 'month', limits: { runs: 10_000 } },
  })
  const invitation = await made('/console/invitations', { token: owner, body: {} })
  const colleague = await stage.member(workspaceId)

  const messenger = await stage.messenger.draft()
  const developer = await stage.reviewed()
  const { request, headers: listener } = await stage.listened()
  await platform.drain()
  const a2a = await stage.a2aTask(app)

  const sessions = await platform.call('GET', '/console/sessions', { token: owner })
  const customers = {
    run: run.id,
    step,
    webhook: webhook.id,
    delivery: deliveries.body.items[0].id as string,
    task: task.id,
    conversation: conversation.id,
    file: file.id,
    folder: folder.id,
    installation: installation.id,
    grant: app.grant.id,
    budget: budget.id,
    schedule: schedule.id,
    user: colleague.user.id,
    invitation: invitation.id,
    session: sessions.body.items[0].id as string,
  }
  const chats = { account: messenger.accountId, thread: messenger.chatId, message: messenger.draftId }
  const key = await platform.call('POST', '/api/v1/dev/me/keys', { headers: developer.headers, body: { name: 'CI' } })
  const account = {
    call: (method: string, path: string, body?: unknown) =>
      platform.call(method, path, { headers: developer.headers, body }),
  }
  const teammate = await invited(platform, account, 'viewer')
  const ofSandbox = await exchanged(stage, developer.app.id)
  const developers = {
    run: ofSandbox,
    developerMember: teammate.id,
    app: developer.app.id,
    review: developer.review.id,
    developerKey: key.body.id as string,
    text: '1.0.0',
  }

  /**
   * Returns the credential that opens an endpoint, with the caller's ids by kind; undefined where every caller sees the
   * same ids.
   */
  const owning = (endpoint: Endpoint): { headers: Headers; ids: Record<string, string> } | undefined => {
    const kinds = Object.values(endpoint.params)
    const within = (ids: Record<string, string>, headers: Headers) =>
      kinds.length > 0 && kinds.every((kind) => kind in ids) ? { headers, ids } : undefined
    if (endpoint.caller === 'integration') {
      const asked = { installation: a2a.id, text: a2a.task }
      return within(endpoint.group === 'a2a' ? asked : customers, integrationHeaders(endpoint, token))
    }
    if (endpoint.caller === 'console') {
      return within(customers, bearer(owner)) ?? within(chats, bearer(messenger.token))
    }
    if (endpoint.caller !== 'developer') return undefined
    return within({ listenedRequest: request }, listener) ?? within(developers, developer.headers)
  }

  return {
    app,
    token,
    owner,
    workspaceId,
    callback,
    messenger,
    developer,
    chatMessage: said.id,
    event: events.body.items.at(-1).id as string,
    owning,
    /** Ids of this tenant's records, by kind. */
    ids: { ...developers, ...chats, ...customers, text: undefined },
    ...customers,
  }
}

export type Tenant = Awaited<ReturnType<typeof createTenant>>

/** Headers of an integration's request to an endpoint. */
export const integrationHeaders = ({ speaks }: Endpoint, token: string): Headers => ({
  ...bearer(token),
  ...(speaks === 'a2a' && A2A),
})

/** Fills ids into a path's parameters. */
export const pathWith = ({ path, params }: Endpoint, ids: Record<string, string>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[params[name] ?? ''] ?? 'unknown')
