import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { callbackToken, type InstalledOptions, installed } from '#test/support/fixtures.ts'
import { type Answer, type CallOptions, startPlatform } from '#test/support/platform.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { StoreMeter } from './meter.ts'

export type Installed = Awaited<ReturnType<typeof installed>>

const REDIRECT = 'https://client.example/callback'

/** The platform in one process on a real store, with everybody whom the main job needs, and a meter at the store. */
export const startStage = async () => {
  const platform = await startPlatform()
  const agent = await startReceiver()
  const meter = new StoreMeter(platform.store.client.middlewareStack, {
    endpoint: platform.store.endpoint,
    tableName: platform.tableName,
  })
  agent.answer(({ path }) =>
    path.startsWith('/slow')
      ? { kind: 'answer', status: 202 }
      : { kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: { text: 'Hello, Ada!' } }) },
  )
  let made = 0
  const unique = (prefix: string): string => `${prefix}-${++made}`

  /** Sends a request that has to succeed. */
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const answer = await platform.call(method, path, options)
    if (answer.status >= 400)
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 1_000)}`)
    return answer
  }

  /** An approved app in a workspace of its own, with an access token and an owner who is signed in. */
  const install = (options: InstalledOptions = {}): Promise<Installed> =>
    installed(platform.deps, { endpoint: agent.url, ...options })

  /** Starts runs that end at once, oldest first. */
  const finishedRuns = async (app: Installed, count: number): Promise<string[]> => {
    const ids: string[] = []
    for (let i = 0; i < count; i++) {
      platform.clock.advance(2_000)
      const { body } = await call('POST', '/api/v1/runs', {
        token: app.token,
        body: { input: { name: 'Ada' }, trigger: 'bench' },
      })
      await platform.drain()
      ids.push(body.id)
    }
    return ids
  }

  /** A run whose agent answered 202, with its callback token. */
  const runningRun = async (app: Installed): Promise<{ id: string; token: string }> => {
    const { body } = await call('POST', '/api/v1/runs', { token: app.token, body: { input: { name: 'Ada' } } })
    await platform.drain()
    return { id: body.id, token: await callbackToken(platform.deps, app, body.id) }
  }

  const developer = async () => {
    const { body } = await call('POST', '/api/v1/dev/register', {
      body: { email: `${unique('dev')}@example.com`, name: 'Ada', company: 'Example Ltd' },
    })
    const headers = { 'x-developer-key': String(body.api_key) }
    return {
      headers,
      call: (method: string, path: string, sent?: unknown) =>
        call(method, path, { headers, ...(sent !== undefined && { body: sent }) }),
      vendor: `vendor-${String(body.developer.id).slice(-12)}`,
    }
  }
  type Developer = Awaited<ReturnType<typeof developer>>

  const appFields = () => ({
    slug: unique('greeter'),
    type: 'agent',
    name: 'Greeter',
    summary: 'Greets people.',
    description: 'A sample agent that answers at once.',
    logo_url: 'https://example.com/logo.png',
    privacy_url: 'https://example.com/privacy',
    support_email: 'support@example.com',
    redirect_uris: [REDIRECT],
    requested_scopes: ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke', 'webhooks:manage'],
  })

  const manifest = (author: Developer, slug: string, version = '1.0.0') => ({
    id: `${author.vendor}.${slug}`,
    version,
    name: 'Greeter',
    summary: 'Greets people.',
    runtime: { type: 'webhook', endpoint: agent.url },
    tools: [
      {
        name: 'greet',
        description: 'Greets.',
        input_schema: { type: 'object', properties: { name: { type: 'string' } } },
      },
    ],
  })

  /** A developer's app with a published and promoted version. */
  const published = async () => {
    const author = await developer()
    const { body: app } = await author.call('POST', '/api/v1/dev/apps', appFields())
    await author.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifest(author, app.slug))
    await author.call('POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`)
    return { author, id: String(app.id), slug: String(app.slug) }
  }

  /** The request, with the workers at work beside it. */
  const whileWorking = async <T>(send: () => Promise<T>): Promise<T> => {
    let over = false
    const answer = send().finally(() => {
      over = true
    })
    while (!over) {
      await platform.drain()
      await pause(5)
    }
    return answer
  }

  /** An app that was test-run and submitted, and waits for a moderator. */
  const submitted = async () => {
    const app = await published()
    const path = `/api/v1/dev/apps/${app.id}/test-run`
    await whileWorking(() => app.author.call('POST', path, { input: { name: 'Ada' } }))
    await app.author.call('POST', `/api/v1/dev/apps/${app.id}/submit`)
    return app
  }

  /** An authorize request and what proves, later, that it was ours. */
  const authorization = (app: Installed) => {
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      client_id: app.app.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'bench',
    })
    return { verifier, path: `/oauth/authorize?${query}` }
  }

  /** An opened consent page. */
  const consent = async (app: Installed) => {
    const { verifier, path } = authorization(app)
    const { headers } = await call('GET', path)
    return { verifier, tg: new URL(headers.location ?? '').searchParams.get('tg') ?? '' }
  }

  const decide = (app: Installed, tg: string) =>
    call('POST', '/oauth/consent/decision', {
      token: app.person.token,
      body: { tg, decision: 'approve', workspace_id: app.workspaceId },
    })

  /** The form of a code's exchange. */
  const exchangeForm = async (app: Installed): Promise<Record<string, string>> => {
    const { verifier, tg } = await consent(app)
    await call('GET', `/oauth/consent/request?tg=${tg}`, { token: app.person.token })
    const { body } = await decide(app, tg)
    return {
      grant_type: 'authorization_code',
      client_id: app.app.id,
      client_secret: app.clientSecret,
      code: new URL(body.redirect_to).searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: REDIRECT,
    }
  }

  const token = (form: Record<string, string>) =>
    call('POST', '/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })

  const refreshForm = (app: Installed, refreshToken: string): Record<string, string> => ({
    grant_type: 'refresh_token',
    client_id: app.app.id,
    client_secret: app.clientSecret,
    refresh_token: refreshToken,
  })

  return {
    platform,
    agent,
    meter,
    unique,
    call,
    install,
    finishedRuns,
    runningRun,
    developer,
    appFields,
    manifest,
    published,
    submitted,
    whileWorking,
    authorization,
    consent,
    decide,
    exchangeForm,
    token,
    refreshForm,
    async close() {
      meter.close()
      await agent.close()
      await platform.stop()
    },
  }
}

export type Stage = Awaited<ReturnType<typeof startStage>>
