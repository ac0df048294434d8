import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { orchestratorId } from '#shared/access/orchestrator/principal.ts'
import { ENTITIES } from '#shared/entities.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { Table } from '#shared/table/table.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { RunSchema } from '#shared/work/runs/schemas.ts'
import { readAsAdmin } from '#test/functions/admin/observation-support.ts'
import { entityOf, runRound, scanTable } from '#test/functions/workers/workspace-removal-support.ts'
import { callbackToken, type Installed, installed, member } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const DAYS = 30
const platform = usingPlatform({ PAYLOAD_RETENTION_DAYS: String(DAYS) })
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(DAY)
  agent.answer({ kind: 'answer', status: 202 })
})

const large = { text: 'x'.repeat(20_000) }

/** Issues a token now, since tokens from days ago have expired. */
const tokenOf = async ({ installation, app, grant, workspaceId: ws }: Installed): Promise<string> =>
  (await issueToken(platform.deps, 'access', { ins: installation.id, ws, app: app.id, grt: grant.id, sv: 1 })).token

const started = async (app: Installed, input: object = large): Promise<string> => {
  const token = await tokenOf(app)
  const { body } = await platform.call('POST', '/api/v1/runs', { token, body: { input } })
  await platform.drain()
  return body.id
}

const read = async (app: Installed, id: string) =>
  platform.call('GET', `/api/v1/runs/${id}`, { token: await tokenOf(app) })

const complete = async (app: Installed, id: string) => {
  const token = await callbackToken(platform.deps, app, id)
  const body = { status: 'succeeded', output: large, steps: [{ output: { text: 'done' } }] }
  expect((await platform.call('POST', `/api/v1/runs/${id}/complete`, { token, body })).status).toBe(200)
  await platform.drain()
}

it('every record that holds payloads expires with them, or keeps its payload in its own object', () => {
  const holding = [...ENTITIES.values()].filter((entity) =>
    JSON.stringify(z.toJSONSchema(entity.schema(), { unrepresentable: 'any', io: 'input' })).includes('"bytes"'),
  )
  const lifeOf = (days: number) =>
    holding.map(({ name, expires }) => [name, expires?.({ created_at: 0 }, { payloadDays: days })])
  // Their objects lie outside the bucket's expiration rule.
  const kept = ['task', 'version'].map((name) => [name, undefined])
  const going = ['approval', 'inline-call', 'inline-run', 'inline-turn', 'input-request', 'run', 'step']
  for (const days of [7, 365]) {
    expect(lifeOf(days).sort()).toEqual([...going.map((name) => [name, days * DAY]), ...kept].sort())
  }
})

it('the records of a run expire with its payloads', async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const id = await started(app)
  const created = platform.clock.now()
  platform.clock.advance(MINUTE)
  const token = await callbackToken(platform.deps, app, id)
  const body = { run_id: id, arguments: { url: 'https://example.com/' } }
  await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body })
  await platform.drain()
  const livesOf = async () => {
    const records = (await scanTable(platform)).filter(
      (item) => item.ttl !== undefined && (item.run_id === id || item.id === id),
    )
    return Object.fromEntries(records.map((item) => [entityOf(item), Number(item.ttl) * 1_000 - created]))
  }
  const whole = DAYS * DAY
  expect(await livesOf()).toMatchObject({
    run: whole,
    'workspace-run': whole,
    // Two days longer than a run may take.
    'active-run': 9 * DAY,
    step: whole + MINUTE,
    approval: whole + MINUTE,
    'approved-call': whole + MINUTE,
  })
  await complete(app, id)
  const ended = await livesOf()
  expect(ended).toMatchObject({ run: whole, 'observed-run': whole })
  expect(ended).not.toHaveProperty('active-run')
})

describe('a run past its retention', () => {
  it('isn’t found or listed, even before the store has deleted it', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const id = await started(app)
    await complete(app, id)
    const lists = async () => {
      const { token: person } = await member(platform.deps, app.workspaceId, 'member')
      const asked = [
        ...['', '?status=succeeded'].map(async (query) =>
          platform.call('GET', `/api/v1/runs${query}`, { token: await tokenOf(app) }),
        ),
        ...['', '?status=succeeded'].map((query) => platform.call('GET', `/console/runs${query}`, { token: person })),
      ]
      const found = (await Promise.all(asked)).map(({ body }) => body.items.map((run: { id: string }) => run.id))
      for (const query of [`workspace=${app.workspaceId}`, `app=${app.app.id}&status=succeeded`, `app=${app.app.id}`]) {
        const { items, total } = await readAsAdmin(platform, `/admin/runs?${query}`)
        found.push(items.map((run: { id: string }) => run.id))
        expect(total).toBe(items.length)
      }
      return found
    }
    // Reading the lists advances the clock.
    platform.clock.advance(DAYS * DAY - MINUTE)
    expect((await read(app, id)).body).toMatchObject({ input: large, output: large, steps: [{}] })
    expect(await lists()).toEqual(Array(7).fill([id]))
    platform.clock.advance(MINUTE)
    expect((await read(app, id)).status).toBe(404)
    expect(await lists()).toEqual(Array(7).fill([]))
    expect((await scanTable(platform)).map((item) => item.id)).toContain(id)
  })

  it('isn’t found as soon as the retention is shortened', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const id = await started(app)
    await complete(app, id)
    platform.clock.advance(8 * DAY)
    expect((await read(app, id)).status).toBe(200)
    const { deps, tableName, clock, store } = platform
    const before = deps.table
    const client = DynamoDBDocumentClient.from(store.client)
    deps.table = new Table({ client, tableName, shards: 2, payloadDays: 7, clock })
    const { status } = await read(app, id)
    deps.table = before
    expect(status).toBe(404)
  })

  it('loses the name of a member who deletes their account', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const leaver = await member(platform.deps, app.workspaceId, 'member')
    const { workspace_id, ...run } = (await platform.deps.table.get(RunEntity, {
      installation_id: app.installation.id,
      id: await started(app, {}),
    })) as Run
    const { id, created_at } = stampOf(newId('run', platform.clock.now() - (DAYS + 1) * DAY))
    const { id: user_id, name } = leaver.user
    // A run of a person’s orchestrator is found by its workspace entry only.
    const installation_id = orchestratorId(workspace_id, app.person.user.id)
    const over = { ...run, id, status: 'succeeded' as const, created_at, due_at: undefined }
    await platform.deps.table.transact([
      RunEntity.create({ ...over, workspace_id, installation_id, actor: { id: user_id, name } }),
      WorkspaceRunEntity.create({ workspace_id, run_id: id, installation_id, created_at }),
    ])
    expect((await platform.call('DELETE', '/console/me', { token: leaver.token })).status).toBe(204)
    for (let rounds = 0; rounds < 3; rounds++) {
      platform.clock.advance(20 * MINUTE)
      await runRound(platform)
    }
    const named = (await scanTable(platform)).filter((item) => JSON.stringify(item).includes(`"${name}"`))
    expect(named.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
  })
})

it('a run that is still active shortly before its retention ends is ended and releases its slot', async () => {
  // Without it, a run would end long before.
  platform.settings.runLifetimeDays = DAYS + 1
  const app = await installed(platform.deps, { endpoint: agent.url })
  const id = await started(app)
  const renewToken = async () => {
    const token = await callbackToken(platform.deps, app, id)
    await platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token })
    await platform.sweep()
    return (await read(app, id)).body
  }
  platform.clock.advance((DAYS - 2) * DAY - 1)
  expect(await renewToken()).toMatchObject({ status: 'running' })
  platform.clock.advance(60 * MINUTE)
  expect(await renewToken()).toMatchObject({ status: 'failed', error_code: 'agent_timeout' })
  const token = await tokenOf(app)
  const starts = await Promise.all(
    Array.from({ length: 6 }, () => platform.call('POST', '/api/v1/runs', { token, body: {} })),
  )
  expect(starts.filter(({ status }) => status === 201)).toHaveLength(5)
})

it('a run whose payloads the bucket has lost reports their size, as its schema defines', async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const id = await started(app)
  await complete(app, id)
  platform.objects.clear()
  const { status, body } = await read(app, id)
  const lost = { truncated: true, bytes: JSON.stringify(large).length }
  expect([status, body.input, body.output]).toEqual([200, lost, lost])
  expect(RunSchema().safeParse(body).success).toBe(true)
})
