import { describe, expect, it } from 'vitest'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { DAY, HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { ACCEPT, usingAgents } from '#test/functions/api/agents-support.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)
const receiver = usingReceiver({ kind: 'answer', status: 202 })

const agent = async () => {
  const app = await installed(platform.deps, { endpoint: `${receiver.url}/agent` })
  const bound = (run: string) => callbackToken(platform.deps, app, run)
  const read = (id: string) => platform.deps.table.get(RunEntity, { installation_id: app.installation.id, id })
  /** Starts a run and sends it to its agent. */
  const start = async (token = app.token) => {
    const answer = await platform.call('POST', '/api/v1/runs', { token, body: {} })
    await platform.drain()
    return answer
  }
  /** Starts a run with the callback token of another, and ends the other. */
  const chained = async (run: string) => {
    const answer = await start(await bound(run))
    const token = await bound(run)
    await platform.call('POST', `/api/v1/runs/${run}/complete`, { token, body: { status: 'succeeded' } })
    return answer
  }
  return { app, start, chained, bound, read }
}

describe('runs that start each other with callback tokens', () => {
  it('end 24 hours after the first of them, however many there were', async () => {
    const { start, chained, bound, read, app } = await agent()
    const first = (await start()).body
    let run = first
    for (let hours = 6; hours < 24; hours += 6) {
      platform.clock.advance(6 * HOUR)
      const next = await chained(run.id)
      expect(next.status).toBe(201)
      run = next.body
      expect((await read(run.id))?.chain_started_at).toBe(Date.parse(first.created_at))
    }
    platform.clock.advance(6 * HOUR)
    const refused = await start(await bound(run.id))
    expect([refused.status, refused.body.error.code]).toEqual([409, 'chain_budget_exceeded'])
    const asked = await platform.call('POST', '/api/v1/tools/create_task/invoke', {
      token: await bound(run.id),
      body: { arguments: { title: 'Go on' } },
    })
    expect(asked.status, 'the run itself goes on').toBe(200)
    const { token } = await issueToken(platform.deps, 'access', {
      ins: app.installation.id,
      ws: app.workspaceId,
      app: app.app.id,
      grt: app.grant.id,
      sv: 1,
    })
    expect((await start(token)).status, 'an access token starts a new chain').toBe(201)
  })
})

describe('a result that wakes the agent that delegated the task', () => {
  it('continues the chain: 24 hours after its beginning, the report is stored and starts no run', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    const runtime = { type: 'inline', instructions: 'Wait for results.' }
    const manifest = { id: a.version.agent_id, version: '1.0.0', name: a.app.name, runtime }
    await platform.deps.table.transact([
      VersionEntity.update(a.version, {
        set: { runtime_type: 'inline', manifest: { json: JSON.stringify(manifest) } },
      }),
    ])
    const { body } = await agents.delegate(a.token, b.slug)
    const begun = platform.clock.now()
    const report = async (text: string) => {
      const claims = { ins: b.installation.id, ws: b.workspaceId, app: b.app.id, grt: b.grant.id, sv: 1 }
      const { token } = await issueToken(platform.deps, 'access', claims)
      return succeeded(platform.call('POST', `/api/v1/tasks/${body.result.task_id}/report`, { token, body: { text } }))
    }
    platform.clock.advance(23 * HOUR)
    await report('Seven.')
    expect(await agents.runsOf(a)).toMatchObject([{ trigger: 'task_result', chain_started_at: begun }])
    platform.clock.advance(HOUR)
    expect((await report('Eight.')).result.text).toBe('Eight.')
    expect(await agents.runsOf(a)).toHaveLength(1)
  })
})

describe('a run whose callback token is renewed again and again', () => {
  it('fails after the longest lifetime of a run', async () => {
    const { start, app, read } = await agent()
    const { id } = (await start()).body
    const renew = async () => {
      const token = await callbackToken(platform.deps, app, id)
      return platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token })
    }
    const halfHours = (7 * DAY) / (30 * MINUTE)
    for (let n = 1; n < halfHours; n++) {
      platform.clock.advance(30 * MINUTE)
      if (n % 48 === 0) await platform.sweep()
      expect((await renew()).status).toBe(200)
    }
    platform.clock.advance(30 * MINUTE)
    const refused = await renew()
    expect([refused.status, refused.body.error.code]).toEqual([409, 'run_already_finished'])
    await platform.sweep()
    expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_timeout' })
  })

  it('fails then also while it waits for an approval', async () => {
    const { start, app, read } = await agent()
    const { id } = (await start()).body
    const { created_at = 0 } = (await read(id)) ?? {}
    // As if it had worked until a minute before its end.
    const ends_at = created_at + MINUTE
    await platform.deps.table.transact([
      RunEntity.update({ installation_id: app.installation.id, id }, { set: { ends_at } }),
    ])
    const asked = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token: await callbackToken(platform.deps, app, id),
      body: { arguments: { url: `${receiver.url}/x` } },
    })
    expect(asked.body.status).toBe('awaiting_approval')
    platform.clock.advance(MINUTE)
    await platform.sweep()
    expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_timeout' })
  })
})
