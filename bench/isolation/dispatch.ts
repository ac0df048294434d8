import { dispatchTimes, evenly } from '../latency/load.ts'
import { createTenant, type Tenant } from '../latency/setup.ts'
import type { LocalRun } from '../local-run.ts'
import { atRest, hanging, type Round, type Scenario, startRun, until } from './scenario.ts'

const TENANTS = 3
/** Number of tenants with the trouble. Each may have 5 active runs, and the agent hangs for its maximum of 30 seconds. */
const TROUBLED_TENANTS = 24
const RUNS_PER_SECOND = 1
/** Seconds in which as many runs begin to hang as in the steady state: 1 a second for 30 seconds. */
const LEAD_SECONDS = 10
const LEAD_RUNS_PER_SECOND = 3

const prepare = async (run: LocalRun): Promise<Round> => {
  const { call, open } = run
  const [agent, bad] = [await open(), await open()]
  hanging(agent)
  const script = hanging(bad)
  const others: Tenant[] = []
  const troubled: Tenant[] = []
  for (let i = 0; i < TENANTS; i++) others.push(await createTenant(call, agent.url, []))
  for (let i = 0; i < TROUBLED_TENANTS; i++) troubled.push(await createTenant(call, bad.url, []))
  let next = 0
  const startTroubled = () => startRun(call, troubled[next++ % TROUBLED_TENANTS] as Tenant, new Map())

  return async (isTroubled, seconds) => {
    agent.requests.length = 0
    if (isTroubled) script.hang()
    await evenly({ seconds: LEAD_SECONDS, perSecond: LEAD_RUNS_PER_SECOND }, startTroubled)
    const created = new Map<string, number>()
    await evenly({ seconds, perSecond: RUNS_PER_SECOND * 2 }, (n) =>
      n % 2 === 0 ? startRun(call, others[(n >> 1) % TENANTS] as Tenant, created) : startTroubled(),
    )
    await until('the runs', () => agent.requests.length >= created.size)
    script.release()
    const measured = { 'run dispatch': dispatchTimes(agent, created) }
    await atRest(run)
    return measured
  }
}

/** Sends half of the runs to an agent that accepts requests and doesn't answer. */
export const dispatch: Scenario = {
  trouble: 'half of the runs go to an agent that hangs',
  limited: ['run dispatch'],
  prepare,
}
