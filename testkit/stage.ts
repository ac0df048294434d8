import { ListenedRequestEntity } from '#shared/agents/outgoing/entity.ts'
import { OutsideTaskEntity } from '#shared/agents/outside/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { A2A, a2aAgent, looking } from './a2a.ts'
import { adopt, manifestFor, newApp, newDeveloper, publish } from './developers.ts'
import { callbackToken, conversation, installed, member } from './fixtures.ts'
import { messengerStage } from './messenger-stage.ts'
import { actors, pkce, REDIRECT } from './oauth.ts'
import { type Answer, succeeded, type TestPlatform } from './platform.ts'
import { type Receiver, startReceiver, succeeds } from './receiver.ts'
import type { Sample } from './sample.ts'
import { startTelegram } from './telegram.ts'
import { whileWorking } from './while-working.ts'

const ACCEPTED = { kind: 'answer', status: 202 } as const
const SUCCEEDED = succeeds({ output: { text: 'done' }, steps: [{ type: 'message' }], cost_units: 1 })

/** Creates the states that valid calls need. */
export const createStage = async (platform: TestPlatform) => {
  const agent = await startReceiver()
  const hooks = await startReceiver()
  const telegram = await startTelegram(platform)
  // The local admin is created at its first use.
  await platform.call('GET', '/admin/me', { headers: { 'x-admin-key': 'local-admin-key' } })

  /** Creates an installed agent that answers in the given way. */
  const integration = async (answer: 'accepts' | 'succeeds' = 'accepts', scopes?: readonly Scope[]) => {
    agent.answer(answer === 'accepts' ? ACCEPTED : SUCCEEDED)
    return installed(platform.deps, { endpoint: agent.url, ...(scopes && { scopes }) })
  }

  /** Installs an A2A agent in an app's workspace. */
  const spokenTo = ({ workspaceId }: { workspaceId: string }) =>
    a2aAgent(platform, { workspaceId, endpoint: agent.url })

  /** Creates a task of an app at an A2A agent of its workspace, with a push notification configuration of the same id. */
  const a2aTask = async (app: { workspaceId: string; token: string }) => {
    const asked = await spokenTo(app)
    const sent = { token: app.token, body: looking(), headers: A2A }
    const { body } = await platform.call('POST', `${asked.at}/message:send`, sent)
    const task = body.task.id as string
    const config = { id: task, url: hooks.url }
    await platform.call('POST', `${asked.at}/tasks/${task}/pushNotificationConfigs`, { ...sent, body: config })
    return { ...asked, task }
  }

  /** Creates a run whose outside agent may send push notifications. */
  const followed = async () => {
    const { app, run } = await running()
    const token = newSecret()
    const owner = { workspace_id: app.workspaceId, app_id: app.app.id }
    const task = {
      run_id: run.id as string,
      installation_id: app.installation.id,
      is_over: false,
      round: 1,
      checks: 0,
      answers: 0,
      push: { token_hash: sha256(token), ...owner },
      cancels: 0,
      created_at: platform.clock.now(),
    }
    await platform.deps.table.transact([OutsideTaskEntity.create(task)])
    return { run, token }
  }

  /** Creates a run whose agent has answered 202, with its callback token. */
  const running = async () => {
    const app = await integration()
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { q: 1 } } })
    await platform.drain()
    return { app, run, callback: await callbackToken(platform.deps, app, run.id) }
  }

  /** Creates a run that waits for a person to approve a fetch. */
  const awaiting = async () => {
    const { app, run, callback } = await running()
    const { body } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token: callback,
      body: { arguments: { url: `${hooks.url}/page` } },
    })
    return { app, run, callback, step: body.step_id as string }
  }

  /** Creates a conversation of an agent. */
  const spoken = async () => {
    const app = await integration()
    const { id } = await conversation(platform.deps, app)
    return { token: app.token, id }
  }

  /** Creates a person’s conversation with an agent, and returns the path of its messages. */
  const chat = async () => {
    const { installation, person } = await integration()
    const body = { installation_id: installation.id }
    const { body: opened } = await platform.call('POST', '/console/conversations', { token: person.token, body })
    return { token: person.token, id: opened.id as string, path: `/console/conversations/${opened.id}/messages` }
  }

  /** Creates a subscription with one succeeded delivery. */
  const subscribed = async () => {
    const app = await integration()
    const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', {
      token: app.token,
      body: { url: `${hooks.url}/in`, events: ['custom.*'] },
    })
    await platform.call('POST', '/api/v1/tools/emit_event/invoke', {
      token: app.token,
      body: { arguments: { type: 'custom.order.paid', data: { n: 1 } } },
    })
    await platform.drain()
    const { body } = await platform.call('GET', `/api/v1/webhooks/${webhook.id}/deliveries`, { token: app.token })
    return { app, webhook, delivery: body.items[0] }
  }

  /** Creates an installation with a file. */
  const filed = async () => {
    const { token, person } = await integration()
    const body = { name: 'report.csv', content_type: 'text/csv', content: 'name,phone' }
    const { body: file } = await platform.call('POST', '/api/v1/files', { token, body })
    return { token, personToken: person.token, file: file as { id: string } }
  }

  /** Creates a person’s task for an agent. */
  const tasked = async () => {
    const app = await integration()
    const body = { title: 'Count the stock', description: 'All of it.', installation_id: app.installation.id }
    const { body: task } = await platform.call('POST', '/console/tasks', { token: app.person.token, body })
    return { app, task: task as { id: string } }
  }

  /** Creates a developer with an app. */
  const developer = async (fields: Record<string, unknown> = {}) => {
    const owner = await newDeveloper(platform)
    const app = await newApp(owner, { redirect_uris: [REDIRECT], ...fields })
    return { owner, app, headers: { 'x-developer-key': owner.key } }
  }

  /** Adds a published version whose agent succeeds. */
  const published = async (fields?: Record<string, unknown>) => {
    agent.answer(SUCCEEDED)
    const made = await developer(fields)
    await succeeded(publish(made.owner, made.app, { runtime: { type: 'webhook', endpoint: agent.url } }))
    return made
  }

  /** Creates a request that the developer’s listener has yet to answer. */
  const listened = async () => {
    const { owner, headers, app } = await developer()
    const now = platform.clock.now()
    const request = newId('listenedRequest', now)
    await platform.deps.table.transact([
      ListenedRequestEntity.create({
        ...stampOf(request),
        developer_id: owner.id,
        app_id: app.id,
        workspace_id: owner.workspaceId,
        installation_id: newId('installation', now),
        kind: 'webhook',
        event: 'run.succeeded',
        subject_id: newId('delivery', now),
        state: 'taken',
        max_response_bytes: 65_536,
        // Later than the end of an Idempotency-Key’s lock, for which tests wait.
        deadline_at: now + 600_000,
      }),
    ])
    return { request, headers }
  }

  /** Adds everything that a submission needs. */
  const submittable = async () => {
    const made = await published({
      summary: 'Helps.',
      description: 'It helps a lot.',
      logo_url: 'https://example.com/logo.png',
      privacy_url: 'https://example.com/privacy',
      support_email: 'help@example.com',
    })
    await made.owner.call('POST', `/api/v1/dev/apps/${made.app.id}/versions/1.0.0/promote`)
    await platform.deps.table.transact([
      AppEntity.update({ id: made.app.id }, { set: { test_run_at: platform.clock.now() } }),
    ])
    return made
  }

  const inReview = async () => {
    const made = await submittable()
    await succeeded(made.owner.call('POST', `/api/v1/dev/apps/${made.app.id}/submit`))
    return made
  }

  /** Approves the app, so that the marketplace shows it. */
  const listed = async () => {
    const made = await inReview()
    const headers = { 'x-admin-key': 'local-admin-key' }
    await succeeded(platform.call('POST', `/admin/apps/${made.app.id}/approve`, { headers }))
    return made
  }

  /** Creates a developer’s app that a customer has reviewed. */
  const reviewed = async () => {
    const owner = await newDeveloper(platform)
    const { app, person, token: agentToken } = await integration()
    await adopt(platform, owner, app)
    const { body: review } = await platform.call('PUT', `/console/apps/${app.id}/review`, {
      token: person.token,
      body: { rating: 4, text: 'Quick.' },
    })
    return {
      app,
      agentToken,
      review: review as { id: string },
      token: person.token,
      headers: { 'x-developer-key': owner.key },
    }
  }

  /** Creates a request for an agent, and the customer who made it. */
  const wished = async () => {
    const { token } = (await integration()).person
    const body = { title: 'A stock agent', description: 'It counts.' }
    const made = await platform.call('POST', '/console/agent-requests', { token, body })
    return { id: made.body.id as string, token }
  }

  /** Creates a complaint about an agent. @returns its id */
  const complained = async (): Promise<string> => {
    const { app, person } = await integration()
    const body = { app_id: app.id, text: 'It asks for passwords.' }
    return (await platform.call('POST', '/console/abuse-reports', { token: person.token, body })).body.id
  }

  const stage = {
    platform,
    hooks,
    telegram,
    messenger: messengerStage(platform, telegram),
    integration,
    a2aAgent: spokenTo,
    a2aTask,
    running,
    followed,
    awaiting,
    conversation: spoken,
    chat,
    subscribed,
    filed,
    tasked,
    developer,
    published,
    listened,
    submittable,
    inReview,
    listed,
    reviewed,
    wished,
    complained,
    manifestFor,
    pkce,
    actors: actors(platform),
    member: (workspaceId: string) => member(platform.deps, workspaceId, 'owner'),
    call: ({ method }: Endpoint, sample: Sample, headers: Record<string, string> = {}): Promise<Answer> => {
      const sent = { ...sample, headers: { ...sample.headers, ...headers } }
      const send = () => stage.asRequest(() => platform.call(method, sample.path, sent))
      return sample.works ? whileWorking(platform, send()) : send()
    },
    /** Wraps only the request, not the workers that run at the same time. */
    asRequest: (send: () => Promise<Answer>): Promise<Answer> => send(),
    close: (): Promise<unknown> =>
      Promise.all([...[agent, hooks].map((one: Receiver) => one.close()), telegram.stop()]),
  }
  return stage
}

export type Stage = Awaited<ReturnType<typeof createStage>>
