import { expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { RemovalEntity } from '#shared/access/installations/entity.ts'
import { SubscriptionEntity } from '#shared/delivery/webhooks/entity.ts'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { AppTotalEntity, STATS_SHARDS } from '#shared/insight/statistics/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { ApprovalEntity, RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { killing } from '#testkit/killing.ts'
import { deathsAt } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

/** An agent with a grant, a subscription and two runs, one of which waits for an approval. */
const busy = async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { token } = app
  await platform.call('POST', '/api/v1/webhooks', {
    token,
    body: { url: 'https://hooks.example/in', events: ['run.*'] },
  })
  const runs = []
  for (let n = 0; n < 2; n++) runs.push((await platform.call('POST', '/api/v1/runs', { token, body: {} })).body.id)
  await platform.drain()
  const { body } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: await callbackToken(platform.deps, app, runs[0]),
    body: { arguments: { url: `${agent.url}/page` } },
  })
  await platform.drain()
  return { app, runs: runs as string[], step: body.step_id as string }
}

it('whichever worker dies at whichever call, everything of the installation ends and is counted once', async () => {
  const deaths = killing(platform)
  for (const n of deathsAt(200, 8)) {
    platform.clock.advance(7_200_000)
    const { app, runs, step } = await busy()
    const { id: installation_id } = app.installation
    const removed = await platform.call('DELETE', `/console/installations/${installation_id}`, {
      token: app.person.token,
    })
    expect(removed.status).toBe(204)
    const events = platform.outbox.splice(0)
    await platform.deps.bus.put(events)
    // A death before a call equals one after the previous call.
    deaths.arm(n, 'after')
    await deaths.run(true)
    const died = deaths.disarm()
    for (let minute = 0; minute < 2; minute++) {
      platform.clock.advance(60_000)
      await platform.sweep()
      await platform.drain()
    }
    const { table } = platform.deps
    for (const id of runs) expect((await table.get(RunEntity, { installation_id, id }))?.status).toBe('cancelled')
    expect((await table.get(ApprovalEntity, { run_id: runs[0] ?? '', step_id: step }))?.status).toBe('voided')
    expect((await table.get(GrantEntity, { installation_id, id: app.grant.id }))?.status).toBe('revoked')
    const { items } = await table.query(SubscriptionEntity, { installation_id }, { limit: 5 })
    expect(items.map(({ status }) => status)).toEqual(['disabled'])
    expect(await table.get(CounterEntity, { owner: installation_id, counter: 'active_runs' })).toMatchObject({ n: 0 })
    expect((await table.get(RemovalEntity, { installation_id }))?.done_at).toBeDefined()
    const audit = await table.query(AuditEntity, { scope: app.workspaceId }, { limit: 50 })
    const actions = audit.items.map(({ action }) => action)
    for (const action of ['installation.removed', 'grant.revoked'])
      expect(actions.filter((one) => one === action)).toHaveLength(1)
    // The lost message may have been the one that counts. It never counts twice.
    expect(await removedOf(app.app.id)).toBeLessThanOrEqual(1)
    if (!died) {
      expect(await removedOf(app.app.id)).toBe(1)
      expect(deaths.calls()).toBeGreaterThan(8)
      return
    }
  }
  expect.unreachable('the scene doesn’t end')
})

const removedOf = async (app_id: string): Promise<number> => {
  const shards = Array.from({ length: STATS_SHARDS }, (_, shard) => ({ app_id, shard, block: 'live' as const }))
  const totals = await Promise.all(shards.map((shard) => platform.deps.table.get(AppTotalEntity, shard)))
  return totals.reduce((sum, total) => sum + (total?.removed ?? 0), 0)
}
