import { describe, expect, it } from 'vitest'
import { RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
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
  it('takes no place from others for longer than a minute, and leaves no run out of the list', async () => {
    await dieAtEach(platform, { limit: 30, stride: 3 }, async (_n, dying) => {
      const app = await installed(platform.deps, { endpoint: agent.url })
      await dying(() => start(app))
      await recover(platform, 65_000)
      const created = await runsOf(app)
      expect(created.length + (await fill(app)).length).toBe(5)
      const listed = (await listedOf(app)).map(({ run_id }) => run_id)
      for (const { id } of await runsOf(app)) expect(listed).toContain(id)
    })
  })
})

describe('places of active runs', () => {
  it('are taken exactly by requests that arrive at once, and a refused one isn’t in the list', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const answers = await Promise.all(Array.from({ length: 12 }, () => start(app)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(await runsOf(app)).toHaveLength(5)
    expect(await listedOf(app)).toHaveLength(5)
  })

  it('aren’t freed while the request that took one creates its run', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { table } = platform.deps
    const { transact } = table
    let others: string[] = []
    table.transact = async (writes) => {
      const [only] = writes
      if (only?.entity.name === RunEntity.name && only.kind === 'put') {
        table.transact = transact
        others = await fill(app)
      }
      return transact.call(table, writes)
    }
    expect((await start(app)).status).toBe(201)
    expect(others).toHaveLength(4)
    expect(await runsOf(app)).toHaveLength(5)
  })
})
