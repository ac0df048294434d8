import { expect, it } from 'vitest'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { countEvents } from '#shared/insight/statistics/count.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { cancelRun } from '#shared/work/runs/finish.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { emitCreated, readAsAdmin, SUPER, signInModerator } from './observation-support.ts'

const platform = usingPlatform()

const start = async ({ installation, app, grant, workspaceId: ws }: Installed): Promise<string> => {
  platform.clock.advance(1_000)
  const claims = { ins: installation.id, ws, app: app.id, grt: grant.id, sv: 1 }
  const { token } = await issueToken(platform.deps, 'access', claims)
  const { status, body } = await platform.call('POST', '/api/v1/runs', { token, body: { input: { secret: 'theirs' } } })
  expect(status).toBe(201)
  await emitCreated(platform, body)
  return body.id
}

let handled = 0
/**
 * Lets the statistics worker, and no other worker, handle the events since the last call, also those that a dispatch would
 * carry.
 */
const followed = async () => {
  platform.outbox.splice(0)
  const events = platform.emitted.slice(handled).reverse()
  handled = platform.emitted.length
  expect(await countEvents(createWorkerWork(platform.deps), events)).toEqual(new Map())
}

const ids = async (query = '') => {
  const { items, total } = await readAsAdmin(platform, `/admin/runs${query}`)
  expect(total).toBeGreaterThanOrEqual(items.length)
  return items.map(({ id }: { id: string }) => id)
}

it('lists all runs by app, workspace and status, newest first, across days', async () => {
  const a = await installed(platform.deps)
  const b = await installed(platform.deps, { workspaceId: a.workspaceId })
  const c = await installed(platform.deps)
  const old = [await start(a), await start(b)]
  platform.clock.advance(3 * DAY)
  const since = new Date(platform.clock.now()).toISOString()
  const fresh = [await start(a), await start(c)]
  const [a1 = '', b1 = '', a2 = '', c1 = ''] = [...old, ...fresh]
  const work = createWorkerWork(platform.deps)
  await cancelRun(work, { installation_id: a.installation.id, id: a1 })
  await followed()

  expect(await ids()).toEqual([c1, a2, b1, a1])
  expect(await ids('?limit=2&offset=1')).toEqual([a2, b1])
  expect(await ids(`?since=${since}`)).toEqual([c1, a2])
  expect(await ids('?status=active')).toEqual([c1, a2, b1])
  expect(await ids('?status=cancelled')).toEqual([a1])
  expect(await ids('?status=failed')).toEqual([])
  expect(await ids(`?app=${a.app.id}`)).toEqual([a2, a1])
  expect(await ids(`?app=${a.app.id}&status=active`)).toEqual([a2])
  expect(await ids(`?workspace=${a.workspaceId}`)).toEqual([a2, b1, a1])
  expect(await ids(`?workspace=${a.workspaceId}&status=active`)).toEqual([a2, b1])
  expect(await ids('?since=0001-01-01T00:00:00Z')).toEqual([c1, a2, b1, a1])
  expect(await ids(`?workspace=${a.workspaceId}&since=1969-12-31T23:59:59Z`)).toEqual([a2, b1, a1])
  expect(await ids(`?workspace=${a.workspaceId}&since=${since}`)).toEqual([a2])
  expect(await ids(`?workspace=${a.workspaceId}&status=active&since=${since}`)).toEqual([a2])
  expect(await ids(`?workspace=${a.workspaceId}&app=${b.app.id}`)).toEqual([b1])
  expect(await ids(`?workspace=${a.workspaceId}&app=${a.app.id}&status=cancelled`)).toEqual([a1])
  expect(await ids(`?workspace=${c.workspaceId}&app=${a.app.id}`)).toEqual([])
  const { total } = await readAsAdmin(platform, '/admin/runs?limit=1&offset=3')
  expect(total).toBe(4)
})

it('shows moderators how a run proceeded, and never its content', async () => {
  const { token } = await signInModerator(platform)
  const { text } = await platform.call('GET', '/admin/runs', { token })
  expect(text).toContain('"status"')
  expect(text).not.toContain('theirs')
  expect(text).not.toContain('"input"')
})

it('costs the same whatever the number of runs', async () => {
  const one = await installed(platform.deps)
  const id = await start(one)
  await followed()
  const run = await platform.deps.table.get(RunEntity, { installation_id: one.installation.id, id })
  if (!run) throw new Error('no run')
  const bytes = async () => {
    let sent = 0
    platform.store.client.middlewareStack.add(
      (next, context) => async (args) => {
        const result = await next(args)
        if (context.commandName === 'QueryCommand' || context.commandName === 'BatchGetItemCommand') {
          sent += JSON.stringify(result.output).length
        }
        return result
      },
      { step: 'initialize', name: 'weigh' },
    )
    await readAsAdmin(platform, `/admin/runs?limit=5`)
    platform.store.client.middlewareStack.remove('weigh')
    return sent
  }
  const copies = async (n: number) => {
    for (let i = 0; i < n; i += 100) {
      const now = platform.clock.now() - i
      await platform.deps.table.transact(
        Array.from({ length: 100 }, () => RunEntity.create({ ...run, ...stampOf(newId('run', now)) })),
      )
    }
  }
  await copies(1_500)
  const before = await bytes()
  await copies(1_500)
  // Twice as many runs. Their distribution over the shards makes a small difference.
  expect(await bytes()).toBeLessThan(before * 1.5)
  const { total } = await readAsAdmin(platform, '/admin/runs?limit=5')
  expect(total).toBe(1_005)
})

it('refuses invalid filters', async () => {
  for (const query of [
    '?app=1',
    '?workspace=app_1',
    '?status=queued',
    '?since=today',
    '?installation=ins_1',
    '?offset=10001',
  ]) {
    platform.clock.advance(1_000)
    expect([query, (await platform.call('GET', `/admin/runs${query}`, SUPER)).status]).toEqual([query, 422])
  }
})
