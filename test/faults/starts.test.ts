import { describe, expect, it } from 'vitest'
import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { createdEventId } from '#shared/work/runs/emit.ts'
import { RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { addMember } from '#test/functions/console/conversations-support.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { dieAtEach, recover } from './die-at-each.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

const start = ({ token }: Installed) => platform.call('POST', '/api/v1/runs', { token, body: {} })

/** Starts runs until one is refused. */
const fill = async (app: Installed): Promise<string[]> => {
  const ids: string[] = []
  for (;;) {
    const { status, body } = await start(app)
    if (status !== 201) {
      expect(body.error.code).toBe('too_many_active_runs')
      return ids
    }
    ids.push(body.id)
  }
}

const runsOf = async ({ installation }: Installed) =>
  (await platform.deps.table.query(RunEntity, { installation_id: installation.id }, { limit: 100 })).items

const listedOf = async ({ workspaceId }: Installed) =>
  (await platform.deps.table.query(WorkspaceRunEntity, { workspace_id: workspaceId }, { limit: 100 })).items

describe('a request that starts a run and dies at any call to the store', () => {
  it('creates a run with its slot, its place in the list and its event, or nothing', async () => {
    await dieAtEach(platform, { limit: 30, stride: 3 }, async (_n, dying) => {
      const app = await installed(platform.deps, { endpoint: agent.url })
      await dying(() => start(app))
      const created = await runsOf(app)
      expect((await listedOf(app)).map(({ run_id }) => run_id)).toEqual(created.map(({ id }) => id))
      const event = (id: string) => platform.deps.table.get(OutboxEntity, { id: createdEventId(id) })
      for (const { id } of created) expect(await event(id)).toMatchObject({ due_at: expect.any(Number) })
      expect(created.length + (await fill(app)).length).toBe(5)
      await recover(platform, 65_000)
      for (const { id, status } of await runsOf(app)) {
        expect(status).toBe('running')
        expect((await event(id))?.due_at).toBeUndefined()
      }
    })
  })
})

describe('a request that posts a message to an agent and dies at any call to the store', () => {
  it('posts it and has it answered once, or does nothing', async () => {
    agent.answer({
      kind: 'answer',
      status: 200,
      body: JSON.stringify({ status: 'succeeded', output: { text: 'Yes' } }),
    })
    await dieAtEach(platform, { limit: 30, stride: 3 }, async (_n, dying) => {
      const app = await installed(platform.deps, { endpoint: agent.url, scopes: ['chat:read', 'chat:write'] })
      const ann = await addMember(platform, app.workspaceId)
      const chat = await ann.open(app.installation.id)
      const before = agent.requests.length
      await dying(() => ann.say(chat, 'Ready?'))
      const isPosted = (await ann.said(chat)).length > 0
      await recover(platform, 65_000)
      expect(await ann.said(chat)).toEqual(isPosted ? ['user: Ready?', 'agent: Yes'] : [])
      expect(agent.requests.length - before).toBe(isPosted ? 1 : 0)
    })
  })
})

describe('slots of active runs', () => {
  it('are taken exactly by requests that arrive at once, and a refused one isn’t in the list', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const answers = await Promise.all(Array.from({ length: 12 }, () => start(app)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(await runsOf(app)).toHaveLength(5)
    expect(await listedOf(app)).toHaveLength(5)
  })
})
