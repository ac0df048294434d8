import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { EDGE_SECONDS, WAITING_SECONDS } from '#infra/plan.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, usingAgents } from './agents-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

/** Sends a call through an edge that gives up where the answer hasn't begun in time, by the platform's clock. */
const throughEdge = async (
  send: () => Promise<Answer>,
): Promise<{ status: number; code: unknown; seconds: number }> => {
  const sent = platform.clock.now()
  const { status, body } = await send()
  const seconds = (platform.clock.now() - sent) / SECOND
  return seconds < EDGE_SECONDS
    ? { status, code: body.error?.code, seconds }
    : { status: 504, code: undefined, seconds }
}

/** Asks an agent that accepts, and returns the call once the agent has the run. */
const asked = async () => {
  const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
  const { token } = await agents.running(a)
  const before = agents.receiver.requests.length
  const answer = throughEdge(() => agents.whileWorking(() => agents.ask(token, b.slug)))
  await agents.receiver.received(before + 1)
  const [run] = await agents.runsOf(b)
  if (!run) throw new Error('no run')
  return { answer, run, b }
}

/** Lets time pass in steps that a waiting call notices, each of less than the shortest timeout. */
const pass = async (...steps: number[]) => {
  for (const seconds of steps) {
    platform.clock.advance(seconds * SECOND)
    await pause(450)
  }
}

it('an agent that thinks for 70 seconds answers its caller through the edge', async () => {
  const { answer, run, b } = await asked()
  await pass(35, 35)
  const token = await callbackToken(platform.deps, b, run.id)
  const body = { status: 'succeeded', output: { thought: true } }
  expect((await platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token, body })).status).toBe(200)
  expect(await answer).toMatchObject({ status: 200, seconds: 70 })
})

it('a caller of an agent that never answers learns it from the platform before the edge gives up', async () => {
  const { answer, b } = await asked()
  await pass(60, 54, 1)
  expect(await answer).toEqual({ status: 409, code: 'chain_budget_exceeded', seconds: 115 })
  expect(await agents.runsOf(b)).toMatchObject([{ status: 'cancelled' }])
})

it('every wait of a call for an agent ends before the edge, the gateway and the function do', () => {
  const ends = Math.min(EDGE_SECONDS, WAITING_SECONDS) * SECOND
  expect(LIMITS.agentAnswer + LIMITS.testRunWait).toBeLessThan(LIMITS.agentWait)
  for (const wait of [LIMITS.agentWait, LIMITS.runWaitSeconds * SECOND]) expect(wait + 4 * SECOND).toBeLessThan(ends)
})
