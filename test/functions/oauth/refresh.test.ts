import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { readSettings } from '#shared/kernel/settings.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors, holdUntil } from '#testkit/oauth.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const DAY = 86_400_000

/** Rounds of concurrent requests. */
const ROUNDS = DEEP ? 20 : 4

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
  platform.outbox.length = 0
})

const refused = (answer: { status: number; body: { error: { code: string } } }): void =>
  expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_grant'])

describe('refreshing', () => {
  it('returns a new pair, invalidates the old refresh token, and keeps the old access token valid', async () => {
    const client = await act.connected()
    const answer = await act.refresh(client, client.tokens.refresh_token)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual(Object.keys(client.tokens))
    expect(answer.body.refresh_token).not.toBe(client.tokens.refresh_token)
    expect(answer.body.access_token).not.toBe(client.tokens.access_token)
    expect(await act.works(client.tokens.access_token)).toBe(200)
    expect(await act.works(answer.body.access_token)).toBe(200)
    const { grant_id, installation_id } = (await records('refresh-token')).find(
      ({ token_hash }) => token_hash?.S === sha256(answer.body.refresh_token),
    ) as Record<string, { S: string }>
    const at = { installation_id: installation_id?.S ?? '', id: grant_id?.S ?? '' }
    expect((await platform.deps.table.get(GrantEntity, at))?.last_used_at).toBe(platform.clock.now())
  })

  it('revokes the whole chain with its access tokens on reuse, notifies the customer and audits it, once', async () => {
    const client = await act.connected()
    const second = (await act.refresh(client, client.tokens.refresh_token)).body
    const third = (await act.refresh(client, second.refresh_token)).body
    platform.outbox.length = 0
    refused(await act.refresh(client, client.tokens.refresh_token))
    refused(await act.refresh(client, client.tokens.refresh_token))
    refused(await act.refresh(client, third.refresh_token))
    for (const { access_token } of [client.tokens, second, third]) expect(await act.works(access_token)).toBe(401)
    expect(platform.outbox.map(({ type }) => type)).toEqual([
      'installation.updated',
      'access.withdrawn',
      'notification.created',
    ])
    expect(JSON.parse(platform.outbox[2]?.data ?? '')).toMatchObject({
      app_id: client.app.id,
      title: expect.stringContaining(client.app.name),
    })
    const audit = await platform.deps.table.query(AuditEntity, { scope: second.workspace_id }, { limit: 10 })
    expect(audit.items.filter(({ action }) => action === 'grant.revoked').map(({ details }) => details.reason)).toEqual(
      ['refresh_token_reuse'],
    )
  })

  it('leaves other grants of the same installation alone on reuse', async () => {
    const client = await act.connected()
    const tg = await act.link(client.app)
    expect((await act.decide(client.consent.person.token, tg)).status).toBe(200)
    const other = await act.connected()
    await act.refresh(client, client.tokens.refresh_token)
    refused(await act.refresh(client, client.tokens.refresh_token))
    expect(await act.works(other.tokens.access_token)).toBe(200)
    const grants = await platform.deps.table.query(
      GrantEntity,
      { installation_id: client.tokens.installation_id },
      { limit: 10 },
    )
    expect(grants.items.map(({ status }) => status).sort()).toEqual(['active', 'revoked'])
  })

  it('returns one and the same pair to 50 requests that read the token as valid', async () => {
    const client = await act.connected()
    const before = (await records('refresh-token')).length
    const release = holdUntil(platform, 'refresh-token', 50)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => act.refresh(client, client.tokens.refresh_token)),
    ).finally(release)
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await records('refresh-token')).length, 'one rotation').toBe(before + 1)
    expect((await act.refresh(client, answers[0]?.body.refresh_token)).status).toBe(200)
  })

  it('returns the same pair with every 200 to 50 requests in any order, without a server error', async () => {
    const client = await act.connected()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => act.refresh(client, client.tokens.refresh_token)),
    )
    const fine = answers.filter(({ status }) => status === 200)
    expect(fine.length).toBeGreaterThan(0)
    expect(new Set(fine.map(({ text }) => text)).size).toBe(1)
    for (const answer of answers) if (answer.status !== 200) refused(answer)
  })

  it('rotates once for 50 concurrent requests, round after round, and leaves one valid token', async () => {
    const client = await act.connected()
    const { installation_id } = client.tokens
    const tokens = async () =>
      (await records('refresh-token')).filter((one) => one.installation_id?.S === installation_id)
    let token: string = client.tokens.refresh_token
    for (let round = 1; round <= ROUNDS; round++) {
      platform.clock.advance(10_000)
      const release = holdUntil(platform, 'refresh-token', 50)
      const answers = await Promise.all(Array.from({ length: 50 }, () => act.refresh(client, token))).finally(release)
      expect(
        answers.map(({ status }) => status),
        `round ${round}`,
      ).toEqual(Array(50).fill(200))
      expect(new Set(answers.map(({ text }) => text)).size, `round ${round}`).toBe(1)
      token = answers[0]?.body.refresh_token
    }
    const made = await tokens()
    expect(made).toHaveLength(ROUNDS + 1)
    expect(made.filter(({ rotated_at }) => rotated_at === undefined).map(({ token_hash }) => token_hash?.S)).toEqual([
      sha256(token),
    ])
    expect((await act.refresh(client, token)).status).toBe(200)
    expect(platform.outbox.filter(({ type }) => type === 'notification.created')).toEqual([])
  })

  it('returns nothing to a request that lost a race after which the customer’s consent ended', async () => {
    const client = await act.connected()
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    table.transact = async (writes) => {
      if (writes.some(({ entity }) => entity.name === 'refresh-token')) {
        table.transact = transact
        const winner = (await act.refresh(client, client.tokens.refresh_token)).body
        await act.refresh(client, winner.refresh_token)
        refused(await act.refresh(client, winner.refresh_token))
      }
      return transact(writes)
    }
    try {
      refused(await act.refresh(client, client.tokens.refresh_token))
    } finally {
      table.transact = transact
    }
  })

  it('takes effect at once on reuse: introspection is inactive and the API answers 401, for every token of the chain', async () => {
    const client = await act.connected()
    const second = (await act.refresh(client, client.tokens.refresh_token)).body
    const introspect = async (token: string) => (await act.introspect(client, token)).body.active
    const all = [client.tokens.access_token, second.access_token, second.refresh_token]
    for (const token of all) expect(await introspect(token)).toBe(true)
    refused(await act.refresh(client, client.tokens.refresh_token))
    for (const token of all) expect(await introspect(token)).toBe(false)
    for (const { access_token } of [client.tokens, second]) {
      const answer = await platform.call('GET', '/api/v1/me', { token: access_token })
      expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized'])
      expect(answer.headers['www-authenticate']).toContain('error="invalid_token"')
    }
  })

  it('returns invalid_grant to another client for a rotated token, too, and keeps the chain valid', async () => {
    const client = await act.connected()
    const next = (await act.refresh(client, client.tokens.refresh_token)).body
    const other = await installed(platform.deps)
    const before = await everything()
    refused(await act.refresh(other, client.tokens.refresh_token))
    refused(await act.refresh(other, next.refresh_token, {}, { 'idempotency-key': 'not-mine' }))
    const changed = (await everything()).filter(({ _e }) => _e?.S !== 'bucket' && _e?.S !== 'kept-answer')
    const byKey = (one: Record<string, { S?: string }>) => `${one.pk?.S} ${one.sk?.S}`
    expect(changed.map(byKey).sort()).toEqual(
      before
        .filter(({ _e }) => _e?.S !== 'bucket' && _e?.S !== 'kept-answer')
        .map(byKey as never)
        .sort(),
    )
    expect((await act.refresh(client, next.refresh_token)).status).toBe(200)
    expect(await act.works(next.access_token)).toBe(200)
  })

  it('treats a repeat in the same millisecond as reuse when there is no reuse window', async () => {
    const client = await act.connected()
    const first = await act.refresh(client, client.tokens.refresh_token)
    refused(await act.refresh(client, client.tokens.refresh_token))
    expect(await act.works(first.body.access_token)).toBe(401)
  })

  it('treats a retry with its Idempotency-Key as reuse once its pair was used', async () => {
    const client = await act.connected()
    const headers = { 'idempotency-key': 'lost-and-used' }
    const pair = (await act.refresh(client, client.tokens.refresh_token, {}, headers)).body
    const next = (await act.refresh(client, pair.refresh_token)).body
    refused(await act.refresh(client, client.tokens.refresh_token, {}, headers))
    expect(await act.works(next.access_token)).toBe(401)
  })

  it('doesn’t return a stored response once the grant has ended, whatever else the body contains', async () => {
    const client = await act.connected()
    const other = await act.consented(client.app)
    const headers = { 'idempotency-key': 'lost-and-ended' }
    const bystander = { code: other.code }
    const pair = (await act.refresh(client, client.tokens.refresh_token, bystander, headers)).body
    await act.revoke(client, pair.refresh_token)
    refused(await act.refresh(client, client.tokens.refresh_token, bystander, headers))
  })

  it('returns the same response for the same Idempotency-Key', async () => {
    const client = await act.connected()
    const headers = { 'idempotency-key': 'lost-1' }
    const first = await act.refresh(client, client.tokens.refresh_token, {}, headers)
    const again = await act.refresh(client, client.tokens.refresh_token, {}, headers)
    expect(again.text).toBe(first.text)
    expect((await act.refresh(client, first.body.refresh_token)).status).toBe(200)
  })

  it('returns invalid_grant for another client’s token, without touching it', async () => {
    const client = await act.connected()
    const other = await installed(platform.deps)
    refused(await act.refresh(other, client.tokens.refresh_token))
    const next = await act.refresh(client, client.tokens.refresh_token)
    expect(next.status).toBe(200)
    refused(await act.refresh(other, client.tokens.refresh_token))
    expect(await act.works(next.body.access_token)).toBe(200)
  })

  it('expires the token after 90 days without use, and keeps it valid while it is used', async () => {
    const client = await act.connected()
    platform.clock.advance(90 * DAY - 1)
    const next = await act.refresh(client, client.tokens.refresh_token)
    expect(next.status).toBe(200)
    platform.clock.advance(90 * DAY)
    refused(await act.refresh(client, next.body.refresh_token))
  })

  it('works with the new secret after a rotation, which invalidated the access tokens', async () => {
    const client = await act.connected()
    const clientSecret = newSecret('cs_')
    await platform.deps.table.transact([
      AppEntity.update(
        { id: client.app.id },
        { set: { client_secret_hash: sha256(clientSecret) }, add: { secret_version: 1 } },
      ),
    ])
    expect(await act.works(client.tokens.access_token)).toBe(401)
    const old = await act.refresh(client, client.tokens.refresh_token)
    expect([old.status, old.body.error.code]).toEqual([401, 'invalid_client'])
    const answer = await act.refresh({ app: client.app, clientSecret }, client.tokens.refresh_token)
    expect(await act.works(answer.body.access_token)).toBe(200)
  })

  it('is refused while the app is suspended, without touching the token', async () => {
    const client = await act.connected()
    const set = (status: 'suspended' | 'approved') =>
      platform.deps.table.transact([AppEntity.update({ id: client.app.id }, { set: { status } })])
    await set('suspended')
    const answer = await act.refresh(client, client.tokens.refresh_token)
    expect([answer.status, answer.body.error.code]).toEqual([403, 'app_suspended'])
    await set('approved')
    expect((await act.refresh(client, client.tokens.refresh_token)).status).toBe(200)
  })
})

describe('with REFRESH_REUSE_WINDOW_SECONDS', () => {
  const lenient = usingPlatform({ REFRESH_REUSE_WINDOW_SECONDS: '30' })
  const person = actors(lenient)

  it('returns the same pair to a repeat within the window', async () => {
    const client = await person.connected()
    const first = await person.refresh(client, client.tokens.refresh_token)
    lenient.clock.advance(30_000)
    expect((await person.refresh(client, client.tokens.refresh_token)).text).toBe(first.text)
  })

  it('treats a repeat after the window as reuse', async () => {
    const client = await person.connected()
    const first = await person.refresh(client, client.tokens.refresh_token)
    lenient.clock.advance(30_001)
    refused(await person.refresh(client, client.tokens.refresh_token))
    expect(await person.works(first.body.access_token)).toBe(401)
  })

  it('returns one and the same pair to 50 repeats within the window, without extending it', async () => {
    const client = await person.connected()
    const first = await person.refresh(client, client.tokens.refresh_token)
    lenient.clock.advance(29_000)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => person.refresh(client, client.tokens.refresh_token)),
    )
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set([first.text]))
    lenient.clock.advance(1_001)
    refused(await person.refresh(client, client.tokens.refresh_token))
  })

  it('refuses a repeat within the window, without treating it as reuse, once the client has revoked the chain', async () => {
    const client = await person.connected()
    const first = (await person.refresh(client, client.tokens.refresh_token)).body
    await person.revoke(client, first.refresh_token)
    lenient.outbox.length = 0
    refused(await person.refresh(client, client.tokens.refresh_token))
    expect(lenient.outbox).toEqual([])
  })

  it.each(['31', '-1', '0.5', 'soon'])('refuses a window of %s at startup', (seconds) => {
    expect(() => readSettings({ STAGE: 'local', REFRESH_REUSE_WINDOW_SECONDS: seconds })).toThrow(
      /REFRESH_REUSE_WINDOW/,
    )
  })

  it('treats a repeat within the window as reuse once the successor was used', async () => {
    const client = await person.connected()
    const first = await person.refresh(client, client.tokens.refresh_token)
    const second = await person.refresh(client, first.body.refresh_token)
    refused(await person.refresh(client, client.tokens.refresh_token))
    expect(await person.works(second.body.access_token)).toBe(401)
  })
})

describe('secrets', () => {
  it('never appear in the table or in the logs: codes, tokens, nonces and secrets', async () => {
    const client = await act.connected()
    const next = (await act.refresh(client, client.tokens.refresh_token, {}, { 'idempotency-key': 'kept-1' })).body
    await act.refresh(client, client.tokens.refresh_token)
    const secrets = [
      client.clientSecret,
      client.consent.tg,
      client.consent.code,
      client.consent.verifier,
      client.consent.person.token,
      client.tokens.access_token,
      client.tokens.refresh_token,
      next.access_token,
      next.refresh_token,
    ]
    const table = JSON.stringify(await everything())
    const logs = platform.logs.join('\n')
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(20)
      // A prefix is not secret. The text after it is.
      const random = secret.replace(/^[a-z]+_/, '')
      expect(table.includes(random), `${secret.slice(0, 8)}… in the table`).toBe(false)
      expect(logs.includes(random), `${secret.slice(0, 8)}… in the logs`).toBe(false)
    }
    expect(table).toContain(sha256(client.tokens.refresh_token))
  })
})

/** Reads every item as stored. */
const everything = async () => {
  const items = []
  let start: Record<string, never> | undefined
  do {
    const page = await platform.store.client.send(
      new ScanCommand({ TableName: platform.tableName, ...(start && { ExclusiveStartKey: start }) }),
    )
    items.push(...(page.Items ?? []))
    start = page.LastEvaluatedKey as typeof start
  } while (start)
  return items
}

const records = async (entity: string) => (await everything()).filter(({ _e }) => _e?.S === entity)
