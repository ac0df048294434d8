import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type JourneyResult, runJourney } from '#examples/demo/journey.ts'
import type { AwsCall } from '#local/platform.ts'
import { SecretCollector, withoutReceipts } from './secrets.ts'
import { consent, must, newAgent, pkce, type Running, send, startLocal, temporaryFolder } from './support.ts'

const place = temporaryFolder()
const secrets = new SecretCollector()
const steps: string[] = []
const calls: AwsCall[] = []
let running: Running
let journey: JourneyResult
let before: Running

/** Runs the whole job once. Records all traffic and everything that functions send to queues and the bus. */
beforeAll(async () => {
  before = await startLocal({ dataDir: place.folder })
  before.platform.onAwsCall((call) => {
    if (call.phase === 'before') calls.push(structuredClone(call))
  })
  const stopWatching = secrets.watchFetch()
  try {
    journey = await runJourney({
      baseUrl: before.baseUrl,
      adminKey: 'local-admin-key',
      log: (step, detail) => steps.push(`${step} ${detail}`),
    })
    await furtherCalls()
    await everySecretOfOAuth()
  } finally {
    stopWatching()
  }
  const { developerKey, clientSecret, signingSecret, webhookSecret, tokens, consoleToken } = journey
  for (const secret of [developerKey, clientSecret, signingSecret, webhookSecret, consoleToken]) {
    secrets.add('result', secret)
  }
  secrets.add('result', tokens.access_token)
  secrets.add('result', tokens.refresh_token)
  secrets.found.set('local-admin-key', 'admin key')
  await before.platform.idle()
})

afterAll(async () => {
  await (running ?? before).stop()
  place.remove()
})

describe('the whole job', () => {
  it('ends with a succeeded run and webhooks that all verify', () => {
    expect(steps.length).toBeGreaterThan(12)
    expect(journey.deliveries.map(({ type }) => type)).toContain('run.succeeded')
    expect(journey.deliveries.every(({ verified }) => verified)).toBe(true)
  })

  it('logs no error and no failed request', () => {
    const bad = before.logs.filter((entry) =>
      entry.kind === 'access'
        ? entry.status >= 500
        : entry.kind === 'platform'
          ? entry.level === 'error'
          : /"level":"(error|critical)"/i.test(entry.line),
    )
    expect(bad).toEqual([])
  })

  it('leaves nothing in a dead-letter queue', () => {
    const { queues, queueSources } = before.platform.model
    const dead = queues.filter(({ arn }) => !queueSources.some((source) => source.queueArn === arn))
    expect(dead.length).toBeGreaterThan(0)
    for (const { name } of dead) expect(before.platform.queue(name).counts()).toMatchObject({ visible: 0 })
  })
})

describe('no secret of the job is stored in plaintext', () => {
  it('the scan finds secrets of every kind', () => {
    const names = new Set(secrets.found.values())
    for (const name of ['code', 'code_verifier', 'tg', 'invite_link', 'password', 'by shape'])
      expect(names).toContain(name)
    const of = (shape: RegExp) => [...secrets.found.keys()].filter((value) => shape.test(value)).length
    // From the journey and the second app: two codes, a chain of refresh tokens, a secret and its successor.
    expect(of(/^code_[0-9a-z]{26}_[\w-]{43}$/)).toBeGreaterThanOrEqual(3)
    expect(of(/^rft_[0-9a-z]{26}_[\w-]{43}$/)).toBeGreaterThanOrEqual(6)
    expect(of(/^cs_[\w-]{43}$/)).toBeGreaterThanOrEqual(3)
    expect(of(/^join_[\w-]{20,}$/)).toBeGreaterThanOrEqual(2)
    expect([...secrets.found].filter(([, name]) => name === 'tg').length).toBeGreaterThanOrEqual(4)
    // The run's callback token appears in the agent's own calls.
    const callback = [...secrets.found.keys()].filter((value) => audienceOf(value)?.includes('callback'))
    expect(callback.length).toBeGreaterThan(0)
    expect(secrets.occurring(`x ${journey.signingSecret} y`)).not.toEqual([])
  })

  it('in the table', async () => {
    const items = await scan()
    const text = JSON.stringify(items)
    expect(text).toContain(journey.runId)
    expect(secrets.occurring(text)).toEqual([])
    expect(withoutReceipts(text)).not.toMatch(/eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./)
  })

  it('in messages that functions send to queues and to the bus', () => {
    const sent = calls.filter(({ service }) => service === 'sqs' || service === 'events')
    const text = JSON.stringify(sent)
    expect(sent.some(({ service }) => service === 'events')).toBe(true)
    expect(text).toContain(journey.runId)
    expect(secrets.occurring(text)).toEqual([])
  })

  it('in the logs, at the most verbose level', () => {
    const text = JSON.stringify(before.logs)
    expect(before.logs.some((entry) => entry.kind === 'function')).toBe(true)
    expect(text).toContain(journey.appId)
    expect(secrets.occurring(text)).toEqual([])
  })
})

describe('after a restart on the same data', () => {
  beforeAll(async () => {
    await before.stop()
    // At the same address, because tokens name it as their issuer.
    running = await startLocal({ dataDir: place.folder, port: Number(new URL(before.baseUrl).port) })
  })

  it('no file of the data folder holds a secret: not the queues, the objects, nor remains of the store', () => {
    const files = readdirSync(place.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
    expect(files.some((file) => file.includes('services.db'))).toBe(true)
    expect(files.some((file) => file.includes('dynamodb.db'))).toBe(true)
    const texts = files.map((file) => [file, readFileSync(file, 'latin1')] as const)
    expect(texts.some(([file, text]) => file.includes('dynamodb.db') && text.includes(journey.runId))).toBe(true)
    const holding = texts.flatMap(([file, text]) => secrets.occurring(text).map((name) => [file, name]))
    expect(holding).toEqual([])
  })

  it('every credential issued before still works', async () => {
    const { baseUrl } = running
    const reads: [string, Record<string, string>][] = [
      ['/api/v1/me', { authorization: `Bearer ${journey.tokens.access_token}` }],
      [`/api/v1/runs/${journey.runId}`, { authorization: `Bearer ${journey.tokens.access_token}` }],
      ['/console/me', { authorization: `Bearer ${journey.consoleToken}` }],
      ['/api/v1/dev/me', { 'x-developer-key': journey.developerKey }],
      ['/admin/me', { 'x-admin-key': 'local-admin-key' }],
    ]
    for (const [to, headers] of reads) expect((await send(baseUrl, 'GET', to, { headers })).status, to).toBe(200)
    const refreshed = await send(baseUrl, 'POST', '/oauth/token.json', {
      body: {
        grant_type: 'refresh_token',
        client_id: journey.appId,
        client_secret: journey.clientSecret,
        refresh_token: journey.tokens.refresh_token,
      },
    })
    expect(refreshed.status, refreshed.text).toBe(200)
  })
})

/** Takes a second app through all of OAuth: consent, denial, refresh, reuse, rotation, revocation, stored answers. */
async function everySecretOfOAuth(): Promise<void> {
  const { baseUrl } = before
  const agent = await newAgent(baseUrl, { endpoint: 'http://127.0.0.1:9/never' })
  const keyed = () => ({ 'idempotency-key': crypto.randomUUID() })
  const redirect_uri = 'http://127.0.0.1:9/callback'
  const own = { client_id: agent.app.client_id, client_secret: agent.app.client_secret }
  const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    send(baseUrl, 'POST', path, { body: new URLSearchParams(fields), headers })
  const authorized = async (decision: 'approve' | 'deny') => {
    const { verifier, challenge } = pkce()
    const url = new URL('/oauth/authorize', baseUrl)
    url.search = new URLSearchParams({
      client_id: own.client_id,
      redirect_uri,
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }).toString()
    const back = await consent(baseUrl, url, agent.sandboxId, decision)
    return { code: back.searchParams.get('code') ?? '', code_verifier: verifier }
  }
  await authorized('deny')
  const grant = { ...own, grant_type: 'authorization_code', redirect_uri }
  const granted = { ...grant, ...(await authorized('approve')) }
  const other = await form('/oauth/token', { ...grant, ...(await authorized('approve')) })
  const kept = keyed()
  const first = await form('/oauth/token', granted, kept)
  const replayed = await form('/oauth/token', granted, kept)
  if (first.status !== 200 || replayed.text !== first.text) throw new Error(`${first.text} ${replayed.text}`)
  const refresh = { ...own, grant_type: 'refresh_token' }
  const second = await form('/oauth/token', { ...refresh, refresh_token: first.body.refresh_token }, keyed())
  const rotation = { headers: { ...agent.headers, ...keyed() } }
  const rotated = await must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/rotate-secret`, rotation)
  const renewed = { ...refresh, client_secret: rotated.client_secret as string }
  const third = await form('/oauth/token', { ...renewed, refresh_token: second.body.refresh_token })
  if (third.status !== 200) throw new Error(third.text)
  const refused = [
    await form('/oauth/token', { ...refresh, refresh_token: third.body.refresh_token }),
    await form(`/oauth/token?refresh_token=${third.body.refresh_token}`, renewed),
    await form('/oauth/token', { ...renewed, refresh_token: first.body.refresh_token }),
    await form('/oauth/token', { ...granted, client_secret: rotated.client_secret as string }),
  ]
  for (const { status, text } of refused) if (status < 400 || status >= 500) throw new Error(`${status} ${text}`)
  const client = { client_id: own.client_id, client_secret: rotated.client_secret as string }
  await form('/oauth/introspect', { ...client, token: other.body.refresh_token }, keyed())
  await form('/oauth/revoke', { ...client, token: other.body.refresh_token }, keyed())
}

/** Calls everything else that hands out secrets, and sends requests with secrets in the wrong places. */
async function furtherCalls(): Promise<void> {
  const { baseUrl } = before
  const { appId, clientSecret, developerKey, tokens } = journey
  const developer = { 'x-developer-key': developerKey }
  const json = { 'content-type': 'application/json' }
  const refresh = { grant_type: 'refresh_token', client_id: appId, client_secret: clientSecret }
  const keyed = { 'idempotency-key': crypto.randomUUID() }
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${appId}/sandbox-token`, { headers: { ...developer, ...keyed } })
  await must(baseUrl, 'POST', '/admin/auth/login', {
    body: { email: 'admin@example.com', password: 'local-admin-password' },
    headers: keyed,
  })
  const [webhook] = (await must(baseUrl, 'GET', '/api/v1/webhooks', { token: tokens.access_token })).items
  const rotation = `/api/v1/webhooks/${webhook.id}/rotate-secret`
  await must(baseUrl, 'POST', rotation, { token: tokens.access_token, headers: keyed })
  const refused = [
    await send(baseUrl, 'POST', '/oauth/token.json', {
      body: { ...refresh, refresh_token: 'unknown', code: tokens.refresh_token },
    }),
    await send(baseUrl, 'POST', '/oauth/token.json', { body: `{"client_secret":"${clientSecret}",`, headers: json }),
    await send(baseUrl, 'POST', '/oauth/token', { body: `client_secret=${clientSecret}`, headers: json }),
    await send(baseUrl, 'GET', `/api/v1/runs?access_token=${tokens.access_token}`, { token: tokens.access_token }),
    await send(baseUrl, 'GET', `/api/v1/me`, { token: `${tokens.access_token}x` }),
    await send(baseUrl, 'GET', '/api/v1/dev/me', { headers: { authorization: `Bearer ${developerKey}` } }),
    await send(baseUrl, 'POST', '/api/v1/runs', { token: tokens.access_token, body: { [tokens.access_token]: 1 } }),
  ]
  for (const { status, text } of refused) if (status < 400 || status >= 500) throw new Error(`${status} ${text}`)
}

const audienceOf = (token: string): string | undefined => {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  return parts
    .slice(0, 2)
    .map((part) => Buffer.from(part, 'base64url').toString())
    .join()
}

/** Scans the table, which the platform itself never does. */
async function scan(): Promise<Record<string, unknown>[]> {
  const { endpoints, client, tableName } = before.platform
  const dynamodb = new DynamoDBClient({ ...client, endpoint: endpoints.dynamodb })
  const items: Record<string, unknown>[] = []
  let start: Record<string, unknown> | undefined
  do {
    const page = await dynamodb.send(
      new ScanCommand({ TableName: tableName, ...(start && { ExclusiveStartKey: start as never }) }),
    )
    items.push(...(page.Items ?? []).map((item) => unmarshall(item)))
    start = page.LastEvaluatedKey
  } while (start)
  dynamodb.destroy()
  return items
}
