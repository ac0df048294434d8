import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { callbackToken, type InstalledOptions, installed } from '#testkit/fixtures.ts'
import { formOf, pkce, REDIRECT, redemptionOf } from '#testkit/oauth.ts'
import { type Answer, type CallOptions, startPlatform } from '#testkit/platform.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { createStage } from '#testkit/stage.ts'
import { startStore } from '#testkit/store.ts'
import { whileWorking } from '#testkit/while-working.ts'
import { StoreMeter } from './meter.ts'

export type Installed = Awaited<ReturnType<typeof installed>>

/**
 * Starts the platform in one process on a real store, with helpers for valid requests and a meter at the store.
 * @param options.sdk calls the store through the SDK, as functions do. Without it, only calls and units are right, no times
 */
export const startStage = async ({ sdk = true } = {}) => {
  const platform = await startPlatform({ RESPONSE_MODE: 'stream' }, await startStore({ sdk }))
  const contract = await createStage(platform)
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
  /** Sends a request that has to succeed. */
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const answer = await platform.call(method, path, options)
    if (answer.status >= 400)
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 1_000)}`)
    return answer
  }

  /** Installs an approved app in a new workspace, with an access token and a signed-in owner. */
  const install = (options: InstalledOptions = {}): Promise<Installed> =>
    installed(platform.deps, { endpoint: agent.url, ...options })

  /** Installs an app with the declared tool `greet` for other agents. */
  const installWithTool = async (options: InstalledOptions = {}): Promise<Installed> => {
    const app = await install(options)
    const { version } = app
    const tools = [{ name: 'greet', description: 'Greets.', input_schema: { type: 'object' } }]
    const manifest = { id: version.agent_id, version: version.version, name: app.app.name, tools }
    const set = { manifest: { json: JSON.stringify(manifest) } }
    await platform.deps.table.transact([VersionEntity.update(version, { set })])
    return app
  }

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

  /** Starts a run whose agent answers 202, with its callback token. */
  const runningRun = async (app: Installed): Promise<{ id: string; token: string }> => {
    const { body } = await call('POST', '/api/v1/runs', { token: app.token, body: { input: { name: 'Ada' } } })
    await platform.drain()
    return { id: body.id, token: await callbackToken(platform.deps, app, body.id) }
  }

  /** Builds an authorize request with its PKCE verifier. */
  const authorization = (app: Installed) => {
    const { verifier, challenge } = pkce()
    const query = new URLSearchParams({
      client_id: app.app.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: 'bench',
    })
    return { verifier, path: `/oauth/authorize?${query}` }
  }

  /** Builds the form that exchanges a code. */
  const exchangeForm = async (app: Installed): Promise<Record<string, string>> => {
    const { verifier, path } = authorization(app)
    const { headers } = await call('GET', path)
    const tg = new URL(headers.location ?? '').searchParams.get('tg') ?? ''
    await call('GET', `/oauth/consent/request?tg=${tg}`, { token: app.person.token })
    const { body } = await call('POST', '/oauth/consent/decision', {
      token: app.person.token,
      body: { tg, decision: 'approve', workspace_id: app.workspaceId },
    })
    return redemptionOf(app, { code: new URL(body.redirect_to).searchParams.get('code') ?? '', verifier })
  }

  const token = (form: Record<string, string>) => call('POST', '/oauth/token', formOf(form))

  return {
    platform,
    agent,
    meter,
    contract,
    call,
    install,
    installWithTool,
    finishedRuns,
    runningRun,
    whileWorking: <T>(send: () => Promise<T>) => whileWorking(platform, send(), 5),
    exchangeForm,
    token,
    async close() {
      meter.close()
      await contract.close()
      await agent.close()
      await platform.stop()
    },
  }
}

export type Stage = Awaited<ReturnType<typeof startStage>>
