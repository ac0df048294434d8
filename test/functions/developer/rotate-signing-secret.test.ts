import { Webhook } from 'standardwebhooks'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { adopt, newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import { holdUntil } from '#testkit/oauth.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const HOUR = 3_600_000

let developer: TestDeveloper
let app: Installed
const platform = usingPlatform()
const agent = usingReceiver()
beforeAll(async () => {
  const body = JSON.stringify({ status: 'succeeded', output: {} })
  agent.answer({ kind: 'answer', headers: { 'content-type': 'application/json' }, body })
})
beforeEach(async () => {
  platform.clock.advance(60_000)
  developer = await newDeveloper(platform)
  app = await installed(platform.deps, { endpoint: agent.url })
  await adopt(platform, developer, app.app)
})

const rotate = async (body?: unknown): Promise<string> => {
  const answer = await developer.call('POST', `/api/v1/dev/apps/${app.app.id}/rotate-signing-secret`, body)
  expect(answer.status, answer.text).toBe(200)
  const { signing_secret } = answer.body
  expect(signing_secret).toMatch(/^agsec_[A-Za-z0-9+/]{43}=$/)
  expect(answer.body).toEqual({ signing_secret, standard_webhooks_secret: signing_secret.replace('agsec_', 'whsec_') })
  expect(answer.headers['cache-control']).toBe('no-store')
  return answer.body.signing_secret
}

/** Starts a run, and returns the number of signatures in the agent's request and which secrets verify it. */
const signedBy = async (...secrets: string[]) => {
  // Issued now, since the clock may be past the expiry of the first token.
  const { installation, grant } = app
  const claims = { ins: installation.id, ws: app.workspaceId, app: app.app.id, grt: grant.id, sv: 1 }
  const { token } = await issueToken(platform.deps, 'access', claims)
  await platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
  await platform.drain()
  const { headers, body } = agent.requests.at(-1) ?? expect.fail('the agent was not called')
  const header = String(headers['x-svc-signature'])
  const now = Math.floor(platform.clock.now() / 1_000)
  return {
    signatures: header.match(/v1=/g)?.length,
    verify: secrets.map((secret) => verifySvc(secret, header, body, now)),
    header,
    request: { headers: headers as Record<string, string>, body: String(body) },
  }
}

describe('rotating the signing secret', () => {
  it('run.execute verifies with standardwebhooks and the secret that is shown for it', async () => {
    // The library compares with the real time.
    platform.clock.advance(Date.now() - platform.clock.now())
    const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.app.id}/rotate-signing-secret`)
    const { request } = await signedBy()
    const webhook = new Webhook(body.standard_webhooks_secret)
    const verified = webhook.verify(request.body, request.headers) as { run: { id: string } }
    expect(request.headers['webhook-id']).toBe(verified.run.id)
    expect(() => webhook.verify(request.body.replace('run.execute', 'run.executf'), request.headers)).toThrow()
  })

  it('signs with the new secret only when there is no overlap', async () => {
    const fresh = await rotate()
    expect(await signedBy(fresh, app.signingSecret)).toMatchObject({ signatures: 1, verify: [true, false] })
  })

  it('signs with both during an overlap, new one first, exact to the millisecond', async () => {
    const fresh = await rotate({ overlap_hours: 2 })
    const during = await signedBy(fresh, app.signingSecret)
    expect(during).toMatchObject({ signatures: 2, verify: [true, true] })
    expect(during.header).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    platform.clock.advance(2 * HOUR - 1)
    expect(await signedBy(fresh, app.signingSecret)).toMatchObject({ signatures: 2, verify: [true, true] })
    platform.clock.advance(1)
    expect(await signedBy(fresh, app.signingSecret)).toMatchObject({ signatures: 1, verify: [true, false] })
  })

  it('signs with the newest two during an overlap, and drops the older one at once', async () => {
    const second = await rotate({ overlap_hours: 168 })
    const third = await rotate({ overlap_hours: 1 })
    const both = await signedBy(third, second, app.signingSecret)
    expect(both).toMatchObject({ signatures: 2, verify: [true, true, false] })
    const fourth = await rotate({})
    expect(await signedBy(fourth, third, second)).toMatchObject({ signatures: 1, verify: [true, false, false] })
  })

  it('happens once under 10 concurrent requests, and the others are conflicts', async () => {
    const release = holdUntil(platform, 'app', 10)
    const path = `/api/v1/dev/apps/${app.app.id}/rotate-signing-secret`
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => developer.call('POST', path, { overlap_hours: 1 })),
    ).finally(release)
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const one of answers) if (one.status !== 200) expect(one.body.error.code).toBe('conflict')
    const verified = await signedBy(won[0]?.body.signing_secret, app.signingSecret)
    expect(verified).toMatchObject({ signatures: 2, verify: [true, true] })
  })

  it('is audited without the secret', async () => {
    const secret = await rotate({ overlap_hours: 3 })
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 5 })
    const entry = items.find(
      ({ action, target }) => action === 'app.signing_secret_rotated' && target.id === app.app.id,
    )
    expect(entry).toMatchObject({ actor: { id: developer.id }, details: { overlap_hours: 3 } })
    expect(JSON.stringify(entry)).not.toContain(secret.slice(6))
  })

  it('refuses overlaps outside 1 to 168 whole hours', async () => {
    const path = `/api/v1/dev/apps/${app.app.id}/rotate-signing-secret`
    for (const overlap_hours of [0, 169, 1.5, '2', null]) {
      const { status, body } = await developer.call('POST', path, { overlap_hours })
      expect([status, Object.keys(body.error.details.fields)]).toEqual([422, ['overlap_hours']])
    }
  })
})
