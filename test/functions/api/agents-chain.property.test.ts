import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Run } from '#shared/work/runs/entity.ts'
import { isActive } from '#shared/work/runs/status.ts'
import { type Task, TaskEntity } from '#shared/work/tasks/entity.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, usingAgents } from './agents-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

/** Ways in which a call states its origin: a run's own token, the id of a run, or nothing. */
const BY = ['bound', 'named', 'plain'] as const

const moves = fc.record({
  what: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('run', 'ask', 'delegate') },
    { weight: 1, arbitrary: fc.constantFrom('own task', 'question', 'report', 'pass on', 'end', 'wait') },
  ),
  by: fc.constantFrom(...BY),
  agent: fc.nat(2),
  other: fc.nat(1),
  pick: fc.nat(9),
  audience: fc.constantFrom('member', 'external', 'external', undefined),
})

type Move = typeof moves extends fc.Arbitrary<infer T> ? T : never

/** Plays the moves of three agents and records the cause of each. */
const play = async (script: readonly Move[]) => {
  const behaviour = () => ACCEPT
  const team = await agents.team({ behaviour }, { behaviour }, { behaviour })
  const { workspaceId } = team[0]
  const waiting: Promise<unknown>[] = []
  const person = team[0].person.token

  const runs = async (): Promise<Run[]> => (await Promise.all(team.map((one) => agents.runsOf(one)))).flat()
  const tasks = async (): Promise<Task[]> =>
    (await platform.deps.table.query(TaskEntity, { workspace_id: workspaceId }, { limit: 100 })).items
  const memberOf = ({ installation_id }: { installation_id: string }) => {
    const found = team.find(({ installation }) => installation.id === installation_id)
    if (!found) throw new Error('the run belongs to another team')
    return found
  }

  for (const { what, by, agent, other, pick, audience } of script) {
    platform.clock.advance(1_000)
    const caller = team[agent] ?? team[0]
    const target = team[(agent + 1 + other) % 3] ?? team[0]
    const before = { runs: await runs(), tasks: await tasks() }
    const own = before.runs.filter((run) => run.installation_id === caller.installation.id)
    const active = own.filter(({ status }) => isActive(status))
    const given = before.tasks.filter(({ assignee }) => assignee?.installation_id === caller.installation.id)
    const run = active[pick % Math.max(active.length, 1)]
    const task = given[pick % Math.max(given.length, 1)]
    if (by !== 'plain' && !run) continue
    const token = by === 'bound' && run ? await callbackToken(platform.deps, caller, run.id) : caller.token
    const more = by === 'named' && run ? { run_id: run.id } : {}
    // Runs that the call may come from. Only a callback token identifies the run that a backend acts for.
    const now = platform.clock.now()
    const recent = own.filter(({ finished_at }) => finished_at === undefined || finished_at > now - 120_000)
    const causes = by === 'bound' && run ? [run] : [...recent, ...(by === 'named' && run ? [run] : [])]
    const depth = Math.max(0, ...causes.map((one) => one.chain_depth))
    const external = by === 'bound' ? run?.audience === 'external' : active.some((one) => one.audience === 'external')

    const handed = what === 'pass on' && before.tasks[pick % Math.max(before.tasks.length, 1)]
    switch (what) {
      case 'run':
        if (by !== 'named') await platform.call('POST', '/api/v1/runs', { token, body: {} })
        break
      case 'ask': {
        const call = agents.ask(token, target.slug, { audience }, more)
        waiting.push(call)
        let settled = false
        void call.finally(() => {
          settled = true
        })
        while (!settled && (await runs()).length === before.runs.length) await pause(2)
        break
      }
      case 'delegate':
        await agents.delegate(token, target.slug, { audience, start_now: pick % 2 === 0 }, more)
        break
      case 'own task':
        await agents.invoke(token, 'create_task', { title: 'Own' }, more)
        break
      case 'question':
      case 'report':
        if (task) await platform.call('POST', `/api/v1/tasks/${task.id}/${what}`, { token, body: { text: 'So.' } })
        break
      case 'pass on':
        if (handed) await platform.call('POST', `/console/tasks/${handed.id}/run`, { token: person, body: {} })
        break
      case 'end':
        if (run) {
          const body = { status: 'succeeded' }
          await platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token: caller.token, body })
        }
        break
      case 'wait':
        platform.clock.advance(30_000)
    }

    const known = new Set([...before.runs, ...before.tasks].map(({ id }) => id))
    const after = { runs: await runs(), tasks: await tasks() }
    const hop = what === 'ask' || what === 'delegate' ? 1 : 0
    for (const one of [...after.runs, ...after.tasks].filter(({ id }) => !known.has(id))) {
      const cause = handed
        ? { depth: handed.chain_depth, external: handed.audience === 'external' }
        : { depth, external }
      const seen = `${what} by ${by}`
      expect(one.chain_depth, seen).toBeGreaterThanOrEqual(cause.depth + hop)
      expect(one.chain_depth, seen).toBeLessThanOrEqual(3)
      if (cause.external || (hop && audience === 'external')) expect(one.audience, seen).toBe('external')
      if (what === 'ask' && run && by === 'bound') {
        // The time of a chain begins with its first hop, so a root run without one has no deadline yet.
        const deadline = run.chain_depth > 0 ? run.chain_deadline : (run.first_hop_at ?? now) + 120_000
        expect((one as Run).chain_deadline, seen).toBe(deadline)
      }
    }
    for (const one of before.tasks) {
      const same = after.tasks.find(({ id }) => id === one.id)
      expect([same?.chain_depth, same?.audience]).toEqual([one.chain_depth, one.audience])
    }
    await platform.drain()
  }
  for (const run of await runs()) {
    if (isActive(run.status)) {
      await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: memberOf(run).token })
      platform.clock.advance(200)
    }
  }
  await Promise.all(waiting)
  for (const one of team) expect(await agents.activeRuns(one)).toBe(0)
}

it('no order of moves makes a run or task shallower than its cause, or internal when its cause is external', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moves, { minLength: 6, maxLength: 16, size: 'max' }), (script) => play(script)),
    { numRuns: DEEP ? 30 : 10, endOnFailure: true },
  )
})
