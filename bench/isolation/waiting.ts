import { setTimeout as pause } from 'node:timers/promises'
import { evenly } from '../latency/load.ts'
import { createWorkspace, type Tenant } from '../latency/setup.ts'
import type { LocalRun } from '../local-run.ts'
import { atRest, hanging, type Round, type Scenario } from './scenario.ts'

const TENANTS = 3
/**
 * Installations of one workspace. A deployed stage has executions for 250 calls, each with a core of its own. Here they share two,
 * on which each call looks at its run once a second.
 */
const INSTALLATIONS = 8
/** Active runs of an installation. */
const WAITING_EACH = 5
/** Seconds in which the calls begin to wait. With the rest and the measured ones they are less than the agent's 30. */
const LEAD_SECONDS = 8
/** Time after which the last run is announced. */
const REST_MS = 2_000

const START = { input: { name: 'Ada' }, trigger: 'bench' }

const prepare = async ({ call, open, platform }: LocalRun): Promise<Round> => {
  const [agent, slow] = [await open(), await open()]
  hanging(agent)
  const script = hanging(slow)
  const others: Tenant[] = []
  for (let i = 0; i < TENANTS; i++) others.push(...(await createWorkspace(call, agent.url, 1)))
  const waiting = await createWorkspace(call, slow.url, INSTALLATIONS)
  const session = await call('POST', '/console/session', {}, { user: 'grace', workspace: 'acme' })
  const person = { authorization: `Bearer ${session.token}` }
  const waitedFor = ({ headers }: Tenant) => call('POST', '/api/v1/runs?wait=30', headers, START)
  const introspect = async ({ client, headers }: Tenant): Promise<void> => {
    const token = headers.authorization?.replace('Bearer ', '') ?? ''
    const response = await fetch(`${platform.baseUrl}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ ...client, token }),
    })
    const { active } = (await response.json()) as { active?: boolean }
    if (!active) throw new Error(`The introspection answered ${response.status}, and no active token`)
  }

  return async (isTroubled, seconds) => {
    slow.requests.length = 0
    if (isTroubled) script.hang()
    const calls: Promise<unknown>[] = []
    const total = INSTALLATIONS * WAITING_EACH
    await evenly({ seconds: LEAD_SECONDS, perSecond: total / LEAD_SECONDS }, async (n) => {
      calls.push(waitedFor(waiting[n % INSTALLATIONS] as Tenant))
    })
    await pause(REST_MS)
    const times: Record<string, number[]> = {}
    const timed = (what: string, act: (tenant: Tenant) => Promise<unknown>) => async (n: number) => {
      const began = performance.now()
      await act(others[n % TENANTS] as Tenant)
      times[what] = [...(times[what] ?? []), performance.now() - began]
    }
    await Promise.all([
      evenly({ seconds, perSecond: 4 }, timed('waited-for runs', waitedFor)),
      evenly(
        { seconds, perSecond: 6 },
        timed('API calls', ({ headers }) => call('GET', '/api/v1/me', headers)),
      ),
      evenly(
        { seconds, perSecond: 4 },
        timed('console', () => call('GET', '/console/me', person)),
      ),
      evenly({ seconds, perSecond: 4 }, timed('OAuth', introspect)),
    ])
    if (slow.requests.length !== total) throw new Error(`${slow.requests.length} of ${total} calls waited`)
    script.release()
    await Promise.all(calls)
    await atRest({ platform })
    return times
  }
}

/** Has all installations of one workspace wait for an agent that takes its time, with as many runs as they may have. */
export const waiting: Scenario = {
  trouble: `${INSTALLATIONS * WAITING_EACH} calls of one workspace wait for a slow agent`,
  limited: ['waited-for runs', 'API calls', 'console', 'OAuth'],
  prepare,
}
