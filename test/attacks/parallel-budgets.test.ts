import { beforeEach, describe, expect, it } from 'vitest'
import { callbackToken, type Installed, installed } from '#testkit/fixtures.ts'
import { type Answer, succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })
const page = usingReceiver({ kind: 'answer', status: 200, body: 'the page' })
beforeEach(() => platform.clock.advance(60_000))

/** Creates eleven agents of one workspace, which can have 55 active runs together. */
const scene = async () => {
  const first = await installed(platform.deps, { endpoint: agent.url })
  const { workspaceId } = first
  const more = Array.from({ length: 10 }, () => installed(platform.deps, { endpoint: agent.url, workspaceId }))
  const agents = [first, ...(await Promise.all(more))]
  const { token } = first.person
  const call = (method: string, path: string, body?: object) =>
    platform.call(method, `/console${path}`, { token, body })
  const start = ({ token }: Installed) => platform.call('POST', '/api/v1/runs', { token, body: {} })
  /** Starts fifty runs at the same moment. */
  const startFifty = () => Promise.all(Array.from({ length: 50 }, (_, i) => start(agents[i % 11] as Installed)))
  const use = async () => (await succeeded(call('GET', '/budgets'))).items[0].use[0]
  return { agents, call, start, startFifty, use }
}

const outcomes = (answers: readonly Answer[]) => {
  const codes = answers.map(({ status, body }) => (status === 201 ? 'started' : body.error.code))
  return Object.fromEntries([...new Set(codes)].map((code) => [code, codes.filter((one) => one === code).length]))
}

describe('fifty runs that start at the same moment', () => {
  it('are as many as the workspace’s budget of runs has left, and the others are refused as used up', async () => {
    const { call, startFifty, use } = await scene()
    await succeeded(call('POST', '/budgets', { subject: { type: 'workspace' }, period: 'day', limits: { runs: 20 } }))
    expect(outcomes(await startFifty())).toEqual({ started: 20, budget_exceeded: 30 })
    expect((await use()).runs).toBe(20)
    expect(outcomes(await startFifty())).toEqual({ budget_exceeded: 50 })
  })

  it('reserve no more tokens than there are, also while approved runs go on and others end', async () => {
    const { agents, call, start, startFifty, use } = await scene()
    const limits = { tokens: 1_000 }
    const per_run = { tokens: 100 }
    await succeeded(call('POST', '/budgets', { subject: { type: 'workspace' }, period: 'day', limits, per_run }))
    // Two runs that wait for a person hold their share, and keep it when the person has decided.
    const waiting = []
    for (const one of agents.slice(0, 2)) {
      const { id } = await succeeded(start(one))
      await platform.drain()
      const token = await callbackToken(platform.deps, one, id)
      const args = { arguments: { url: page.url, method: 'POST' } }
      const { step_id } = await succeeded(
        platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: args }),
      )
      waiting.push({ one, id, token, step_id })
    }
    const [started] = await Promise.all([
      startFifty(),
      ...waiting.map(({ id, step_id }) =>
        call('POST', `/runs/${id}/steps/${step_id}/decision`, { decision: 'approve' }),
      ),
    ])
    expect(outcomes(started)).toEqual({ started: 8, budget_exceeded: 42 })
    await platform.drain()
    expect((await use()).reserved.tokens).toBe(1_000)
    // The unused part of each reservation is released exactly once.
    const ending = waiting.flatMap(({ id, token }) =>
      Array.from({ length: 2 }, () =>
        platform.call('POST', `/api/v1/runs/${id}/complete`, {
          token,
          body: { status: 'succeeded', usage: { input_tokens: 30, output_tokens: 20 } },
        }),
      ),
    )
    const answers = (await Promise.all(ending)).map(({ status }) => status)
    expect(answers.filter((status) => status === 200)).toHaveLength(2)
    expect(await use()).toMatchObject({ tokens: 100, reserved: { tokens: 800 } })
    expect(outcomes(await startFifty())).toEqual({ started: 1, budget_exceeded: 49 })
  })
})
