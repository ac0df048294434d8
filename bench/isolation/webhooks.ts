import { deliveryTimes, evenly } from '../latency/load.ts'
import { createTenant, type Tenant } from '../latency/setup.ts'
import type { LocalRun } from '../local-run.ts'
import { atRest, hanging, type Round, type Scenario, startRun, until } from './scenario.ts'

const TENANTS = 3
const SUBSCRIPTIONS = 2
/** Runs per second of the tenants with the trouble, and as many of the others. */
const RUNS_PER_SECOND = 1
const EVENTS_PER_RUN = 2
/** Seconds in which requests begin to hang. */
const LEAD_SECONDS = 4

const prepare = async (run: LocalRun): Promise<Round> => {
  const { call, open } = run
  const agent = await open()
  hanging(agent)
  const bad = await open()
  const troubled: Tenant[] = []
  const others: Tenant[] = []
  for (let i = 0; i < TENANTS; i++) {
    troubled.push(await createTenant(call, agent.url, Array(SUBSCRIPTIONS).fill(bad)))
    others.push(await createTenant(call, agent.url, await Promise.all(Array.from({ length: SUBSCRIPTIONS }, open))))
  }
  const receivers = others.flatMap((tenant) => tenant.receivers)
  const script = hanging(bad)

  const load = async (seconds: number): Promise<number> => {
    const created = new Map<string, number>()
    await evenly({ seconds, perSecond: RUNS_PER_SECOND * 2 }, (n) => {
      const side = n % 2 === 0 ? others : troubled
      return startRun(call, side[(n >> 1) % TENANTS] as Tenant, n % 2 === 0 ? created : new Map())
    })
    return created.size
  }
  const arrived = () => receivers.reduce((sum, { requests }) => sum + requests.length, 0)
  const forget = () => {
    for (const { requests } of receivers) requests.length = 0
  }

  return async (isTroubled, seconds) => {
    forget()
    if (isTroubled) script.hang()
    const before = await load(LEAD_SECONDS)
    const counted = Date.now()
    const during = await load(seconds)
    const expected = (before + during) * SUBSCRIPTIONS * EVENTS_PER_RUN
    await until('the webhooks', () => arrived() >= expected)
    script.release()
    const webhooks = receivers.flatMap(({ requests }) => deliveryTimes({ requests: since(requests, counted) }))
    await atRest(run)
    return { webhooks }
  }
}

/** Returns the webhooks of events since a time. */
const since = <T extends { body: Buffer }>(requests: readonly T[], time: number): T[] =>
  requests.filter(({ body }) => Date.parse(JSON.parse(body.toString()).created_at) >= time)

/** Sends half of the deliveries to a receiver that accepts requests and doesn't answer. */
export const webhooks: Scenario = {
  trouble: 'half of the webhooks go to a receiver that hangs',
  limited: ['webhooks'],
  prepare,
}
