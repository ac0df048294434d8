import { expect, it } from 'vitest'
import { CounterEntity } from '#shared/entities/developers.ts'
import { GrantEntity, RemovalEntity } from '#shared/entities/installations.ts'
import { AuditEntity } from '#shared/entities/platform.ts'
import { ApprovalEntity, RunEntity } from '#shared/entities/runs.ts'
import { AppTotalEntity, STATS_SHARDS } from '#shared/entities/statistics.ts'
import { SubscriptionEntity } from '#shared/entities/webhooks.ts'
import { callbackToken, installed } from '#test/support/fixtures.ts'
import { killing } from '#test/support/killing.ts'
import { usingReceiver } from '#test/support/using.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

/** An agent with two runs, one of which waits for a person, a grant and a subscription. */
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

it('whatever worker dies at whatever call, everything that was uninstalled is ended, and counted once', async () => {
  const deaths = killing(platform)
  let points = 0
  for (let n = 1; ; n++) {
    platform.clock.advance(7_200_000)
    const { app, runs, step } = await busy()
    const { id: installation_id } = app.installation
    const removed = await platform.call('DELETE', `/console/installations/${installation_id}`, {
      token: app.person.token,
    })
    expect(removed.status).toBe(204)
    const told = platform.outbox.splice(0)
    await platform.deps.bus.put(told)
    // Right before a call is right after the one before it.
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
    // The message that counted it may have been the one that was lost; it never counts twice.
    expect(await removedOf(app.app.id)).toBeLessThanOrEqual(1)
    if (!died) {
      expect(await removedOf(app.app.id)).toBe(1)
      break
    }
    points++
  }
  expect(points).toBeGreaterThan(8)
})

const removedOf = async (app_id: string): Promise<number> => {
  const shards = Array.from({ length: STATS_SHARDS }, (_, shard) => ({ app_id, shard, block: 'live' as const }))
  const totals = await Promise.all(shards.map((shard) => platform.deps.table.get(AppTotalEntity, shard)))
  return totals.reduce((sum, total) => sum + (total?.removed ?? 0), 0)
}
