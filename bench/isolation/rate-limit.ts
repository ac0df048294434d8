import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { dispatchTimes, evenly } from '../latency/load.ts'
import { createTenant, type Tenant } from '../latency/setup.ts'
import type { LocalRun } from '../local-run.ts'
import { atRest, hanging, type Round, type Scenario, startRun, until } from './scenario.ts'

const TENANTS = 3
const RUNS_PER_SECOND = 1
const CALLS_PER_SECOND = 5
/** Rates of the one tenant: half of its limit, and three times its limit. */
const QUIET_PER_SECOND = 5
const LOUD_PER_SECOND = 30
/** Seconds in which its bucket of 20 runs empty. */
const LEAD_SECONDS = 2
/** Time in which the bucket refills completely. */
const REST_MS = 2_500

const prepare = async (run: LocalRun): Promise<Round> => {
  const { call, open, platform } = run
  const agent = await open()
  hanging(agent)
  const others: Tenant[] = []
  for (let i = 0; i < TENANTS; i++) others.push(await createTenant(call, agent.url, []))
  const loud = await createTenant(call, agent.url, [])
  const connections = new Agent({ keepAlive: true })
  /** @returns the status of the answer */
  const ask = ({ headers }: Tenant): Promise<number> =>
    new Promise((resolve, reject) => {
      request(`${platform.baseUrl}/api/v1/me`, { headers, agent: connections }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
      })
        .once('error', reject)
        .end()
    })
  const statuses = new Map<number, number>()
  const shout = async () => {
    const status = await ask(loud)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }

  return async (isTroubled, seconds) => {
    agent.requests.length = 0
    statuses.clear()
    await pause(REST_MS)
    const perSecond = isTroubled ? LOUD_PER_SECOND : QUIET_PER_SECOND
    await evenly({ seconds: LEAD_SECONDS, perSecond }, shout)
    const created = new Map<string, number>()
    const calls: number[] = []
    const callOnce = async (n: number) => {
      const began = performance.now()
      const status = await ask(others[n % TENANTS] as Tenant)
      if (status !== 200) throw new Error(`A tenant within its limit got ${status}`)
      calls.push(performance.now() - began)
    }
    await Promise.all([
      evenly({ seconds, perSecond }, shout),
      evenly({ seconds, perSecond: CALLS_PER_SECOND }, callOnce),
      evenly({ seconds, perSecond: RUNS_PER_SECOND }, (n) => startRun(call, others[n % TENANTS] as Tenant, created)),
    ])
    if (isTroubled !== (statuses.get(429) ?? 0) > 0) throw new Error('The limit didn’t refuse requests as expected')
    await until('the runs', () => agent.requests.length >= created.size)
    const measured = { 'API calls': calls, 'run dispatch': dispatchTimes(agent, created) }
    await atRest(run)
    return measured
  }
}

/** Has one tenant send three times as many requests as its limit allows. */
export const rateLimit: Scenario = {
  trouble: 'one tenant calls three times as often as it may',
  limited: ['API calls', 'run dispatch'],
  prepare,
}
