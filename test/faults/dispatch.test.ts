import { describe, expect, it } from 'vitest'
import { dispatchRun } from '#shared/agents/dispatch/dispatch.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { activeRuns, callbackToken, installed, member } from '#testkit/fixtures.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { type Dying, dieAtEach, recover } from './die-at-each.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()

const succeeded = { kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: {} }) } as const
const FINAL = ['succeeded', 'failed', 'cancelled']

/** Delivers messages to workers of which one dies, then again: the queue redelivers what wasn't acknowledged, and sometimes what was. */
const deliverTwice = async (due: typeof platform.messages, dying: Dying) => {
  await dying(...due.map((message) => () => platform.deliver(message)))
  for (const message of due) await platform.deliver(message)
  await platform.drain()
}

const startAfresh = () => {
  platform.clock.advance(7_200_000)
  agent.requests.length = 0
  page.requests.length = 0
}

describe('a dispatcher that dies at any point', () => {
  it.each([
    ['an agent that answers at once', succeeded],
    ['an agent that answers 202 and never reports back', { kind: 'answer', status: 202 } as const],
    ['an agent with an invalid answer', { kind: 'answer', status: 200, body: 'hm' } as const],
  ])('with %s leaves no run stuck and calls no agent twice', async (_what, answer) => {
    agent.answer(answer)
    const deaths = { limit: 40, stride: 2, counted: 'effects', least: DEEP ? 3 : 1 } as const
    await dieAtEach(platform, deaths, async (_n, dying) => {
      startAfresh()
      const app = await installed(platform.deps, { endpoint: agent.url })
      const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
      await platform.deps.bus.put(platform.outbox.splice(0))
      await deliverTwice(platform.messages.splice(0), dying)
      await recover(platform, 60_000, 70)
      const person = await member(platform.deps, app.workspaceId, 'member')
      const seen = await platform.call('GET', `/console/runs/${run.id}`, { token: person.token })
      expect(FINAL).toContain(seen.body.status)
      expect(agent.requests.length).toBeLessThanOrEqual(1)
      expect(await activeRuns(platform.deps, app)).toBe(0)
    })
  })

  it('a run whose message and event were both lost is dispatched within two minutes', async () => {
    agent.answer(succeeded)
    agent.requests.length = 0
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    platform.outbox.length = 0
    platform.messages.length = 0
    await recover(platform, 60_000, 2)
    const seen = await platform.call('GET', `/api/v1/runs/${run.id}`, { token: app.token })
    expect(seen.body.status).toBe('succeeded')
    expect(agent.requests).toHaveLength(1)
  })

  it('a dispatcher ends the run without reading it again, unless somebody changed it meanwhile', async () => {
    const { table } = platform.deps
    const { get, transact } = table
    /** Returns what the dispatcher reads between the answer of an agent, which does something before it, and the run's end. */
    const endAfter = async (act: (token: string, id: string) => Promise<unknown>) => {
      const app = await installed(platform.deps, { endpoint: agent.url })
      const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
      const token = await callbackToken(platform.deps, app, run.id)
      const calls: string[] = []
      agent.answer(async () => {
        await act(token, run.id)
        table.get = (entity, fields) => {
          calls.push(`read ${entity.name}`)
          return get.call(table, entity as never, fields) as never
        }
        table.transact = (writes) => {
          calls.push(`write ${writes[0]?.entity.name}`)
          return transact.call(table, writes)
        }
        return succeeded
      })
      await platform.deliver(platform.messages.splice(0)[0] as never)
      table.get = get
      table.transact = transact
      await platform.drain()
      const { body } = await platform.call('GET', `/api/v1/runs/${run.id}`, { token: app.token })
      // The event of its start is brought to its consumers meanwhile, which reads other records.
      const reads = calls.slice(0, calls.indexOf('write run')).filter((call) => call === 'read run')
      return { reads, status: body.status, steps: body.steps.length }
    }
    expect(await endAfter(async () => {})).toEqual({ reads: [], status: 'succeeded', steps: 0 })
    const steps = { steps: [{ type: 'message', output: {} }] }
    const report = (token: string, id: string) =>
      platform.call('POST', `/api/v1/runs/${id}/steps`, { token, body: steps })
    expect(await endAfter(report)).toMatchObject({ status: 'succeeded', steps: 1 })
    const cancel = (token: string, id: string) => platform.call('POST', `/api/v1/runs/${id}/cancel`, { token })
    expect(await endAfter(cancel)).toMatchObject({ status: 'cancelled' })
  })

  /** Starts a run whose message and event are lost, and returns how to read it and how its dispatcher dies once it has claimed it. */
  const startForgotten = async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    platform.outbox.length = 0
    platform.messages.length = 0
    const key = { installation_id: app.installation.id, id: body.id }
    const { table } = platform.deps
    return {
      read: async () => {
        const found = await table.get(RunEntity, key)
        if (!found) throw new Error('no run')
        return found
      },
      claimAndDie: async () => {
        const { transact } = table
        table.transact = async (writes) => {
          await transact.call(table, writes)
          if (writes.some(({ entity, changes }) => entity === RunEntity && changes?.set?.status === 'running'))
            throw new Error('the worker dies')
        }
        await expect(dispatchRun(createWorkerWork(platform.deps), key)).rejects.toThrow('the worker dies')
        table.transact = transact
      },
    }
  }

  it('a run that was sent late and whose worker died has 45 seconds from then, and claiming it moves no due time', async () => {
    const { read, claimAndDie } = await startForgotten()
    const queued = await read()
    platform.clock.advance(40_000)
    const now = platform.clock.now()
    await claimAndDie()
    expect((await read()).due_at).toBe(queued.due_at)
    platform.clock.advance(30_000)
    await platform.sweep()
    expect(await read()).toMatchObject({ status: 'running', due_at: now + 45_000 })
    platform.clock.advance(30_000)
    await platform.sweep()
    expect(await read()).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    await platform.drain()
  })

  it('a run that the sweeper has sent and whose worker died has 45 seconds from then, too', async () => {
    const { read, claimAndDie } = await startForgotten()
    platform.clock.advance(61_000)
    await platform.sweep()
    platform.messages.length = 0
    const now = platform.clock.now()
    expect(await read()).toMatchObject({ status: 'queued', due_at: now + 60_000 })
    await claimAndDie()
    expect(await read()).toMatchObject({ status: 'running', due_at: now + 45_000 })
    platform.clock.advance(45_000)
    await platform.sweep()
    expect(await read()).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    await platform.drain()
  })

  it('of ten workers woken at the same time, one calls the agent', async () => {
    agent.answer(succeeded)
    agent.requests.length = 0
    const app = await installed(platform.deps, { endpoint: agent.url })
    await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.deps.bus.put(platform.outbox.splice(0))
    const message = platform.messages.splice(0).find(({ queue }) => queue === 'dispatch')
    if (!message) throw new Error('no dispatch message')
    await Promise.all(Array.from({ length: 10 }, () => platform.deliver(message)))
    expect(agent.requests).toHaveLength(1)
  })
})

describe('a worker of an approved call that dies at any point', () => {
  it('executes it at most once, and the run continues with a result', async () => {
    agent.answer({ kind: 'answer', status: 202 })
    const deaths = { limit: 40, stride: 2, counted: 'effects', least: DEEP ? 2 : 1 } as const
    await dieAtEach(platform, deaths, async (_n, dying) => {
      startAfresh()
      const app = await installed(platform.deps, { endpoint: agent.url })
      const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
      await platform.drain()
      const token = await callbackToken(platform.deps, app, run.id)
      const args = { arguments: { url: page.url } }
      const asked = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: args })
      await platform.drain()
      await platform.call('POST', `/console/runs/${run.id}/steps/${asked.body.step_id}/decision`, {
        token: app.person.token,
        body: { decision: 'approve' },
      })
      await platform.deps.bus.put(platform.outbox.splice(0))
      const due = platform.messages.splice(0).filter(({ queue }) => queue === 'approved-tools')
      await deliverTwice(due, dying)
      await recover(platform, 60_000)
      const result = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: args })
      expect(result.body.status).toBe('ok')
      expect(page.requests.length).toBeLessThanOrEqual(1)
      if (page.requests.length === 0) expect(result.body.result.error).toBe('outcome_unknown')
    })
  })
})

describe('a request handler that dies between its commit and its answer', () => {
  it('is completed by the retry with the same Idempotency-Key', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { transact } = platform.deps.table
    const send = () =>
      platform.call('POST', '/api/v1/runs', {
        token: app.token,
        body: { input: { a: 1 } },
        headers: { 'idempotency-key': 'k-1' },
      })
    platform.deps.table.transact = async (writes) => {
      await transact.call(platform.deps.table, writes)
      if (writes.some(({ entity }) => entity.name === 'run')) throw new Error('died after the commit')
    }
    const died = await send()
    platform.deps.table.transact = transact
    expect(died.status).toBe(500)
    const retried = await send()
    expect([retried.status, retried.headers['idempotency-replayed']]).toEqual([201, 'true'])
    const { body } = await platform.call('GET', '/api/v1/runs', { token: app.token })
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([retried.body.id])
  })
})
