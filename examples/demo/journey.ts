import { createHash, randomBytes } from 'node:crypto'
import { startAgent } from './agent.ts'
import { bearer, demoClient, type Json, type StepLog, until } from './client.ts'
import { startReceiver } from './receiver.ts'

export interface JourneyOptions {
  baseUrl: string
  adminKey: string
  log?: StepLog
  /** Called once everything has worked, while the agent still answers. */
  further?: (call: Further) => Promise<void>
}

/** Calls the API as the integration. */
export type Further = (method: string, path: string, body?: unknown) => Promise<Json>

/** Records and credentials that the journey created, for further checks. */
export interface JourneyResult {
  developerKey: string
  appId: string
  clientSecret: string
  signingSecret: string
  webhookSecret: string
  tokens: { access_token: string; refresh_token: string }
  consoleToken: string
  runId: string
  deliveries: { type: string; verified: boolean }[]
}

/**
 * Performs the platform's main use case over HTTP. A developer registers, and creates, publishes, tests and submits an agent.
 * An admin approves it. A customer consents, and the code is exchanged for tokens. A run starts, the agent receives a signed
 * run.execute, a dangerous step is approved, and a signed webhook arrives.
 * @throws at the first unexpected response
 */
export const runJourney = async ({ baseUrl, adminKey, log, further }: JourneyOptions): Promise<JourneyResult> => {
  const agent = await startAgent()
  const receiver = await startReceiver()
  const { unique, step, call } = demoClient(baseUrl, log)
  const redirectUri = 'http://127.0.0.1:9/callback'
  try {
    const account = { email: `ada-${unique}@example.com`, name: 'Ada', company: 'Example Ltd' }
    const registered = await call('POST', '/api/v1/dev/register', {}, account)
    const developer = { 'x-developer-key': registered.api_key }
    step('A developer registers', registered.developer.id)

    const app = await call('POST', '/api/v1/dev/apps', developer, {
      slug: `greeter-${unique}`,
      // Moderation refuses names that look like those of other developers' listed apps.
      name: `Greeter ${unique}`,
      type: 'agent',
      summary: 'Greets people and reads pages for them.',
      description: 'A sample agent that answers immediately, or later after a person approves an action.',
      logo_url: 'https://example.com/logo.png',
      privacy_url: 'https://example.com/privacy',
      support_email: 'support@example.com',
      redirect_uris: [redirectUri],
      requested_scopes: ['workspace:read', 'runs:write', 'tools:invoke', 'webhooks:manage'],
    })
    agent.useSecret(app.signing_secret)
    step('and creates an app', app.id)

    const version = await call('POST', `/api/v1/dev/apps/${app.id}/versions`, developer, {
      $schema: `${baseUrl}/schemas/manifest.json`,
      id: `example-${unique}.greeter-${unique}`,
      version: '1.0.0',
      name: 'Greeter',
      summary: 'Greets people and reads pages for them.',
      runtime: { type: 'webhook', endpoint: agent.url },
      tools: [
        {
          name: 'greet',
          description: 'Greets a person.',
          input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      ],
    })
    await call('POST', `/api/v1/dev/apps/${app.id}/versions/${version.version}/promote`, developer)
    step('publishes and promotes a manifest', version.version)

    const test = await call('POST', `/api/v1/dev/apps/${app.id}/test-run`, developer, { input: { name: 'Ada' } })
    expect(test.run.status === 'succeeded', 'the test run succeeds', test)
    step('tests the agent in the sandbox', `${test.run.id}: ${test.run.output.text}`)

    await call('POST', `/api/v1/dev/apps/${app.id}/submit`, developer)
    step('and submits the app')
    await call('POST', `/admin/apps/${app.id}/approve`, { 'x-admin-key': adminKey })
    step('An admin approves it')

    const session = await call('POST', '/console/session', {}, { user: `grace-${unique}`, workspace: `acme-${unique}` })
    const person = bearer(session.token)
    const verifier = randomBytes(32).toString('base64url')
    const authorize = new URL(`${baseUrl}/oauth/authorize`)
    authorize.search = new URLSearchParams({
      client_id: app.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: unique,
    }).toString()
    const sent = await fetch(authorize, { redirect: 'manual' })
    expect(sent.status === 302, 'authorize redirects to the consent page', await sent.text())
    const tg = new URL(sent.headers.get('location') ?? '').searchParams.get('tg')
    const request = await call('GET', `/oauth/consent/request?tg=${tg}`, person)
    step('A customer opens the consent page', `${request.app.name} asks for ${request.scopes.length} scopes`)

    const workspace = request.workspaces.find((candidate: Json) => candidate.id === session.workspace.id)
    const decision = await call('POST', '/oauth/consent/decision', person, {
      tg,
      decision: 'approve',
      workspace_id: workspace.id,
    })
    const back = new URL(decision.redirect_to)
    expect(back.searchParams.get('state') === unique, 'the state comes back', decision)
    step('and consents', workspace.name)

    const exchanged = await fetch(`${baseUrl}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: app.client_id,
        client_secret: app.client_secret,
        code: back.searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: redirectUri,
      }),
    })
    const tokens = (await exchanged.json()) as Json
    expect(exchanged.status === 200, 'the code is exchanged for tokens', tokens)
    const integration = bearer(tokens.access_token)
    const me = await call('GET', '/api/v1/me', integration)
    step('The app exchanges the code for tokens', `${me.installation.id} in ${me.workspace.name}`)

    const webhook = await call('POST', '/api/v1/webhooks', integration, { url: receiver.url, events: ['run.*'] })
    receiver.useSecret(webhook.secret)
    step('The integration subscribes to run.*', webhook.id)

    const run = await call('POST', '/api/v1/runs', integration, {
      input: { fetch: `${agent.url}/page` },
      trigger: 'demo',
    })
    step('and starts a run', run.id)

    const waiting = await until(
      'The run',
      () => call('GET', `/console/runs/${run.id}`, person),
      (current) => current.status === 'awaiting_approval',
    )
    const approval = waiting.steps.find((candidate: Json) => candidate.type === 'approval')
    step('The agent receives a signed run.execute and asks to fetch a page', `step ${approval.id}`)

    await call('POST', `/console/runs/${run.id}/steps/${approval.id}/decision`, person, { decision: 'approve' })
    step('The customer approves')

    const done = await until(
      'The run',
      () => call('GET', `/api/v1/runs/${run.id}`, integration),
      (current) => current.finished_at !== null,
    )
    expect(done.status === 'succeeded', 'the run succeeds', done)
    step('The platform fetches the page, and the agent completes the run', `read: ${done.output.read}`)

    await until(
      'A webhook',
      async () => receiver.events,
      (events) => events.some((event: Json) => event.type === 'run.succeeded'),
    )
    expect(
      receiver.events.every((event) => event.verified),
      'every webhook verifies',
      receiver.events,
    )
    step('Signed webhooks arrive and verify', receiver.events.map((event) => event.type).join(', '))
    expect(agent.calls.accepted === 2 && agent.calls.refused === 0, 'the agent was called exactly twice', agent.calls)
    await further?.((method, path, body) => call(method, path, integration, body))

    return {
      developerKey: registered.api_key,
      appId: app.id,
      clientSecret: app.client_secret,
      signingSecret: app.signing_secret,
      webhookSecret: webhook.secret,
      tokens,
      consoleToken: session.token,
      runId: run.id,
      deliveries: receiver.events.map(({ type, verified }) => ({ type, verified })),
    }
  } finally {
    await Promise.all([agent.close(), receiver.close()])
  }
}

const expect = (holds: boolean, what: string, seen: unknown): void => {
  if (!holds) throw new Error(`Expected that ${what}, but got ${JSON.stringify(seen)}`)
}
