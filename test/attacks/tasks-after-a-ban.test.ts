import { beforeEach, describe, expect, it } from 'vitest'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { ACCEPT, usingAgents } from '#test/functions/api/agents-support.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

const SECRET = 'The safe opens with 4711.'

type Agent = Awaited<ReturnType<typeof agents.team>>[number]

const deny = async ({ person }: Agent, ...denied_scopes: string[]) => {
  const body = { denied_tools: [], denied_scopes }
  const { status } = await platform.call('PUT', '/console/settings/bans', { token: person.token, body })
  expect(status).toBe(200)
}

const asPerson = async ({ person }: Agent, method: string, path: string, body: object) => {
  const answer = await platform.call(method, `/console/tasks${path}`, { token: person.token, body })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body
}

/** Assigns a new task of a person to the agent. Nothing is sent to it yet. */
const handed = async (agent: Agent): Promise<string> => {
  const body = { title: SECRET, installation_id: agent.installation.id }
  const { id } = await asPerson(agent, 'POST', '', body)
  return (await asPerson(agent, 'POST', `/${id}/run`, {})).run_id
}

const readRun = async ({ person }: Agent, id: string) =>
  (await platform.call('GET', `/console/runs/${id}`, { token: person.token })).body

const REFUSED = { status: 'failed', error_code: 'scope_denied_by_admin' }

beforeEach(() => {
  agents.received.length = 0
})

describe('after an admin denied tasks:read', () => {
  it('a queued run of a task that a person handed to the agent isn’t sent to it', async () => {
    const [agent] = await agents.team({})
    const id = await handed(agent)
    await deny(agent, 'tasks:read')
    await platform.drain()
    expect(agents.received).toEqual([])
    expect(await readRun(agent, id)).toMatchObject(REFUSED)
  })

  it('a queued run of a task that another agent delegated isn’t sent either', async () => {
    const [asking, agent] = await agents.team({}, {})
    const { body } = await agents.delegate(asking.token, agent.slug, { title: SECRET })
    await deny(agent, 'tasks:read')
    await platform.drain()
    expect(agents.received).toEqual([])
    expect(await readRun(agent, body.result.run_id)).toMatchObject(REFUSED)
  })

  it('an inline agent isn’t run with the result of a task that it delegated', async () => {
    const [asking, agent] = await agents.team({}, { behaviour: () => ACCEPT })
    const manifest = {
      id: asking.version.agent_id,
      version: '1.0.0',
      runtime: { type: 'inline', instructions: 'Wait.' },
    }
    await platform.deps.table.transact([
      VersionEntity.update(asking.version, {
        set: { runtime_type: 'inline', manifest: { json: JSON.stringify(manifest) } },
      }),
    ])
    const { body } = await agents.delegate(asking.token, agent.slug)
    await platform.drain()
    const report = { token: agents.received.at(-1).callback.token, body: { text: SECRET } }
    await platform.call('POST', `/api/v1/tasks/${body.result.task_id}/report`, report)
    await deny(asking, 'tasks:read')
    await platform.drain()
    expect(await agents.runsOf(asking)).toMatchObject([{ trigger: 'task_result', ...REFUSED }])
  })

  it('a run of a task that waits for an approval doesn’t resume', async () => {
    const [agent] = await agents.team({ behaviour: () => ACCEPT })
    const id = await handed(agent)
    await platform.drain()
    const token = agents.received.at(-1).callback.token
    const args = { arguments: { url: 'https://receiver.example/status' } }
    const asked = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: args })
    expect(asked.body.status, asked.text).toBe('awaiting_approval')
    await deny(agent, 'tasks:read')
    const path = `/console/runs/${id}/steps/${asked.body.step_id}/decision`
    const decided = await platform.call('POST', path, { token: agent.person.token, body: { decision: 'reject' } })
    expect(decided.status, decided.text).toBe(200)
    await platform.drain()
    expect(agents.received).toHaveLength(1)
    expect(await readRun(agent, id)).toMatchObject(REFUSED)
  })

  it('a run that is about no task is sent as before, and a task’s again once the ban is lifted', async () => {
    const [agent] = await agents.team({})
    await deny(agent, 'tasks:read')
    expect((await platform.call('POST', '/api/v1/runs', { token: agent.token, body: {} })).status).toBe(201)
    await platform.drain()
    expect(agents.received).toHaveLength(1)
    await deny(agent)
    const id = await handed(agent)
    await platform.drain()
    expect(await readRun(agent, id)).toMatchObject({ status: 'succeeded' })
  })

  it('the scope that the installation lost stops a queued run, too', async () => {
    const [agent] = await agents.team({})
    const id = await handed(agent)
    await agent.set({ scopes: ['runs:write'] })
    await platform.drain()
    expect(agents.received).toEqual([])
    expect(await readRun(agent, id)).toMatchObject({ status: 'failed', error_code: 'insufficient_scope' })
  })
})
