import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { endRemovedInstallation } from '#shared/lifecycle/removal/end-removed.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors, formOf, pkce, refreshOf } from '#testkit/oauth.ts'
import type { Answer } from '#testkit/platform.ts'
import type { Received } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = actors(platform)

const page = usingReceiver()
const hook = usingReceiver({ kind: 'answer', status: 204 })

/** Callback tokens that agents got, in order. Agents accept every run. */
const tokens: string[] = []
const receiver = usingReceiver(({ body }) => {
  tokens.push(JSON.parse(body.toString()).callback?.token)
  return { kind: 'answer', status: 202 }
})

/** Connects an app to a new customer. */
const connected = async () => {
  const client = await installed(platform.deps, { endpoint: `${receiver.url}/agent` })
  const consent = await act.consented(client.app)
  const pair = (await act.redeem(client, consent)).body as {
    access_token: string
    refresh_token: string
    installation_id: string
    workspace_id: string
  }
  /** Starts a run and returns its id and the callback token that its agent got. */
  const run = async (token: string = pair.access_token) => {
    const { body } = await platform.call('POST', '/api/v1/runs', { token, body: {} })
    await platform.drain()
    return { id: body.id as string, callback: tokens.at(-1) as string }
  }
  const grants = async () => (await platform.call('GET', '/console/grants', { token: consent.person.token })).body.items
  const installation = () =>
    platform.deps.table.get(InstallationEntity, { workspace_id: pair.workspace_id, id: pair.installation_id })
  return { client, consent, pair, run, grants, installation }
}
type Connected = Awaited<ReturnType<typeof connected>>

/** Ways in which the last consent ends. */
const ENDINGS: Record<string, (customer: Connected) => Promise<unknown>> = {
  'the customer deletes the only grant': async ({ grants, consent }) => {
    for (const { id } of await grants()) {
      await platform.call('DELETE', `/console/grants/${id}`, { token: consent.person.token })
    }
  },
  'a refresh token is used a second time': async ({ client, pair }) => {
    await act.refresh(client, pair.refresh_token)
    await act.refresh(client, pair.refresh_token)
  },
  'an authorization code is used a second time': ({ client, consent }) => act.redeem(client, consent),
  'the client revokes its refresh token': ({ client, pair }) => act.revoke(client, pair.refresh_token),
}

const refused = (answer: Answer) => expect([answer.status, answer.body.error?.code]).toEqual([401, 'unauthorized'])

describe.each(Object.entries(ENDINGS))('after %s', (_, end) => {
  it('a callback token reads nothing, subscribes to nothing, starts nothing and isn’t renewed', async () => {
    const customer = await connected()
    const { id, callback: token } = await customer.run()
    expect((await platform.call('GET', '/api/v1/members', { token })).status).toBe(200)
    await end(customer)
    for (const path of ['/me', '/members', '/files', `/runs/${id}`, '/events'])
      refused(await platform.call('GET', `/api/v1${path}`, { token }))
    refused(await platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token }))
    refused(await platform.call('POST', '/api/v1/runs', { token, body: {} }))
    const body = { url: 'https://collector.example/hook', events: ['*'] }
    refused(await platform.call('POST', '/api/v1/webhooks', { token, body }))
  })

  it('its active run is cancelled with a code, and an approved call isn’t executed', async () => {
    const customer = await connected()
    const { id, callback: token } = await customer.run()
    const asked = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token,
      body: { arguments: { url: `${page.url}/secret` } },
    })
    expect(asked.body.status).toBe('awaiting_approval')
    const person = customer.consent.person.token
    const decided = await platform.call('POST', `/console/runs/${id}/steps/${asked.body.step_id}/decision`, {
      token: person,
      body: { decision: 'approve' },
    })
    expect(decided.status).toBe(200)
    await end(customer)
    await platform.drain()
    expect(page.requests).toEqual([])
    expect((await platform.call('GET', `/console/runs/${id}`, { token: person })).body).toMatchObject({
      status: 'cancelled',
      error_code: 'access_withdrawn',
    })
  })

  it('a queued run isn’t sent to the agent', async () => {
    const customer = await connected()
    const { body } = await platform.call('POST', '/api/v1/runs', { token: customer.pair.access_token, body: {} })
    const before = tokens.length
    await end(customer)
    await platform.drain()
    expect(tokens.length).toBe(before)
    const run = await platform.call('GET', `/console/runs/${body.id}`, { token: customer.consent.person.token })
    expect(run.body).toMatchObject({ status: 'cancelled', error_code: 'access_withdrawn' })
  })

  it('the app gets one last, signed delivery, and its subscriptions get nothing else', async () => {
    const customer = await connected()
    const { pair } = customer
    hook.requests.length = 0
    const subscription = await platform.call('POST', '/api/v1/webhooks', {
      token: pair.access_token,
      body: { url: `${hook.url}/hook`, events: ['notification.created'] },
    })
    expect(subscription.status).toBe(201)
    await customer.run()
    await end(customer)
    await platform.drain()
    expect(hook.requests.map(({ body }) => JSON.parse(body.toString()))).toMatchObject([
      {
        type: 'installation.updated',
        data: { installation_id: pair.installation_id, scopes: [], reason: 'access_withdrawn' },
      },
    ])
    const [{ headers, body }] = hook.requests as [Received]
    expect(
      verifySvc(subscription.body.secret, String(headers['x-svc-signature']), body, platform.clock.now() / 1_000),
    ).toBe(true)
    await emitCustom(pair)
    await platform.drain()
    expect(hook.requests).toHaveLength(1)

    await connectAgain(customer)
    await emitCustom(pair)
    await platform.drain()
    expect(hook.requests.slice(1).map(({ headers: { 'x-svc-event': type } }) => type)).toEqual(['notification.created'])
  })

  it('the installation has no scopes', async () => {
    const customer = await connected()
    await end(customer)
    expect(await customer.installation()).toMatchObject({
      status: 'active',
      scopes: [],
      withdrawn_at: platform.clock.now(),
    })
  })
})

describe('a callback token', () => {
  it('ends with the consent under which its run began, although another consent lives', async () => {
    const customer = await connected()
    const { callback } = await customer.run()
    const [first] = await customer.grants()
    const tg = await act.link(customer.client.app)
    await act.decide(customer.consent.person.token, tg, { decision: 'approve', scopes: ['runs:read'] })
    expect((await platform.call('GET', '/api/v1/me', { token: callback })).status).toBe(200)
    await platform.call('DELETE', `/console/grants/${first.id}`, { token: customer.consent.person.token })
    refused(await platform.call('GET', '/api/v1/me', { token: callback }))
    expect((await customer.installation())?.scopes, 'those of the other consent').toEqual(['runs:read'])
  })

  it('passes its consent on to the runs that it starts', async () => {
    const customer = await connected()
    const first = await customer.run()
    const second = await customer.run(first.callback)
    expect(second.callback).not.toBe(first.callback)
    await ENDINGS['a refresh token is used a second time']?.(customer)
    refused(await platform.call('GET', '/api/v1/me', { token: second.callback }))
  })

  it('has no more scopes than the access token that renewed it', async () => {
    const customer = await connected()
    const { id } = await customer.run()
    const narrow = await narrowConsent(customer, ['runs:write'])
    const renewed = await platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token: narrow })
    expect(renewed.status).toBe(200)
    const token = renewed.body.token
    expect((await platform.call('GET', `/api/v1/runs/${id}`, { token })).status).toBe(200)
    const members = await platform.call('GET', '/api/v1/members', { token })
    expect([members.status, members.body.error.code]).toEqual([403, 'insufficient_scope'])
    const again = await platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token })
    expect((await platform.call('GET', '/api/v1/members', { token: again.body.token })).status).toBe(403)
  })

  it('has no more scopes than the access token that renewed it, if a refresh narrowed that (RFC 6749 §6)', async () => {
    const customer = await connected()
    const { id } = await customer.run()
    const refresh = async (token: string, scope = '') =>
      (await platform.call('POST', '/connect/token', formOf({ ...refreshOf(customer.client, token), scope }))).body
    const pair = await refresh(customer.pair.refresh_token, 'runs:write')
    const renew = async (token: string) =>
      (await platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token })).body.token
    const members = async (token: string) => (await platform.call('GET', '/api/v1/members', { token })).status
    const callback = await renew(pair.access_token)
    expect([await members(callback), await members(await renew(callback))]).toEqual([403, 403])
    // The refresh token keeps the scopes of its grant.
    const whole = await refresh(pair.refresh_token)
    expect(await members(await renew(whole.access_token))).toBe(200)
  })

  it('isn’t renewed by an access token without runs:write', async () => {
    const customer = await connected()
    const { id } = await customer.run()
    const narrow = await narrowConsent(customer, ['runs:read'])
    const refusal = await platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token: narrow })
    expect([refusal.status, refusal.body.error.code]).toEqual([403, 'insufficient_scope'])
  })
})

describe('an app whose access was withdrawn', () => {
  const withdrawn = async () => {
    const customer = await connected()
    await ENDINGS['the customer deletes the only grant']?.(customer)
    await platform.drain()
    return { ...customer, person: customer.consent.person.token, id: customer.pair.installation_id }
  }
  const code = ({ status, body }: Answer) => [status, body.error?.code]

  it('gets no chat, no task and no page', async () => {
    const { person, id } = await withdrawn()
    const answers = [
      await platform.call('POST', '/console/conversations', { token: person, body: { installation_id: id } }),
      await platform.call('POST', '/console/tasks', { token: person, body: { title: 'Count', installation_id: id } }),
      await platform.call('POST', `/console/installations/${id}/surface-token`, { token: person }),
      await platform.call('PUT', '/console/settings/primary-agent', { token: person, body: { installation_id: id } }),
    ]
    for (const answer of answers) expect(code(answer)).toEqual([403, 'access_withdrawn'])
  })

  it('works again after a new consent, also for a run that was refused before', async () => {
    const customer = await withdrawn()
    const token = await connectAgain(customer)
    const { callback } = await customer.run(token)
    expect((await platform.call('GET', '/api/v1/me', { token: callback })).status).toBe(200)
    expect((await customer.installation())?.withdrawn_at).toBeUndefined()
  })

  it('keeps the runs that began under the new consent when the old ones are ended late', async () => {
    const customer = await connected()
    const old = await customer.run()
    platform.clock.advance(1_000)
    await ENDINGS['the customer deletes the only grant']?.(customer)
    const late = platform.outbox.splice(0)
    platform.clock.advance(1_000)
    const { id } = await customer.run(await connectAgain(customer))
    platform.outbox.push(...late)
    await platform.drain()
    const read = async (run: string) =>
      (await platform.call('GET', `/console/runs/${run}`, { token: customer.consent.person.token })).body.status
    expect([await read(old.id), await read(id)]).toEqual(['cancelled', 'running'])
  })

  it('has its runs cancelled by the sweeper when the worker is never woken', async () => {
    const customer = await connected()
    const { id } = await customer.run()
    await ENDINGS['the customer deletes the only grant']?.(customer)
    platform.outbox.length = 0
    platform.clock.advance(60_000)
    await platform.sweep()
    const run = await platform.call('GET', `/console/runs/${id}`, { token: customer.consent.person.token })
    expect(run.body).toMatchObject({ status: 'cancelled', error_code: 'access_withdrawn' })
  })
})

describe('an uninstalled app', () => {
  it('gets a last, signed delivery, even if its subscriptions were disabled first', async () => {
    const customer = await connected()
    const { pair, consent } = customer
    hook.requests.length = 0
    await platform.call('POST', '/api/v1/webhooks', {
      token: pair.access_token,
      body: { url: `${hook.url}/hook`, events: ['run.*'] },
    })
    await customer.run()
    await platform.drain()
    hook.requests.length = 0
    const removed = await platform.call('DELETE', `/console/installations/${pair.installation_id}`, {
      token: consent.person.token,
    })
    expect(removed.status).toBe(204)
    platform.clock.advance(1)
    await endRemovedInstallation(createWorkerWork(platform.deps), pair.installation_id)
    await platform.drain()
    expect(hook.requests.map(({ headers: { 'x-svc-event': type } }) => type)).toEqual(['installation.removed'])
  })
})

const emitCustom = ({ workspace_id, installation_id }: Connected['pair']) =>
  platform.deps.table.transact([
    emitEvent(platform.clock, {
      type: 'notification.created',
      workspace_id,
      installation_id,
      data: { notification_id: 'ntf_1', title: 'Stock is low', body: '', app_id: 'app_1' },
    }),
  ])

/** Consents again, and returns the access token. */
const connectAgain = (customer: Connected): Promise<string> => narrowConsent(customer, undefined)

/** Consents again with these scopes, and returns the access token. */
const narrowConsent = async (
  { client, consent: { person } }: Connected,
  scopes: string[] | undefined,
): Promise<string> => {
  const { verifier, challenge } = pkce()
  const tg = await act.link(client.app, { code_challenge: challenge })
  const { body } = await act.decide(person.token, tg, { decision: 'approve', scopes })
  const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
  return (await act.redeem(client, { code, verifier })).body.access_token
}
