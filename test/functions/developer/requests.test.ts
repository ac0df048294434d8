import { beforeEach, describe, expect, it } from 'vitest'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { AgentRequestEntity } from '#shared/marketplace/requests/entity.ts'
import { newDeveloper } from '#testkit/developers.ts'
import { workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

let request: ReturnType<typeof createRequest> extends Promise<infer T> ? T : never
const platform = usingPlatform()
beforeEach(async () => {
  platform.clock.advance(60_000)
  request = await createRequest()
})

async function createRequest() {
  const { id: workspace_id } = await workspace(platform.deps)
  const now = platform.clock.now()
  const record = {
    ...stampOf(newId('agentRequest', now)),
    workspace_id,
    title: 'A stock agent',
    description: 'It counts.',
    votes: 3,
    status: 'open' as const,
    asked_by: newId('user', now),
  }
  await platform.deps.table.transact([AgentRequestEntity.create(record)])
  return record
}

const claimPath = () => `/api/v1/dev/requests/${request.id}/claim`

describe('the board of requested agents', () => {
  it('shows open requests newest first, without the requester', async () => {
    const developer = await newDeveloper(platform)
    const { body } = await developer.call('GET', '/api/v1/dev/requests')
    expect(body.items[0]).toEqual({
      id: request.id,
      title: 'A stock agent',
      description: 'It counts.',
      votes: 3,
      status: 'open',
      mine: false,
      claimed_at: null,
      created_at: expect.any(String),
    })
    platform.clock.advance(1_000)
    const newer = await createRequest()
    const first = await developer.call('GET', '/api/v1/dev/requests?limit=1')
    const next = await developer.call('GET', `/api/v1/dev/requests?limit=1&cursor=${first.body.next_cursor}`)
    expect([first.body.items[0].id, next.body.items[0].id]).toEqual([newer.id, request.id])
  })

  it('lets one of eight concurrent claims succeed, and notifies the workspace once', async () => {
    const developers = await Promise.all(Array.from({ length: 8 }, () => newDeveloper(platform)))
    const answers = await Promise.all(developers.map((developer) => developer.call('POST', claimPath())))
    const codes = answers.map(({ status, body }) => (status === 200 ? 'won' : body.error.code)).sort()
    expect(codes).toEqual([...Array(7).fill('conflict'), 'won'])
    const winner = developers[answers.findIndex(({ status }) => status === 200)] ?? expect.fail('no claim succeeded')
    const again = await winner.call('POST', claimPath())
    expect([again.status, again.body.mine, again.body.status]).toEqual([200, true, 'claimed'])
    const { items } = await platform.deps.table.query(
      NotificationEntity,
      { workspace_id: request.workspace_id },
      { limit: 10 },
    )
    expect(items.map(({ kind }) => kind)).toEqual(['request.claimed'])
    const board = async (status: string) =>
      (await winner.call('GET', `/api/v1/dev/requests?status=${status}`)).body.items.map(({ id }: { id: string }) => id)
    expect([(await board('open')).includes(request.id), (await board('claimed')).includes(request.id)]).toEqual([
      false,
      true,
    ])
  })

  it('counts a vote that is concurrent with a claim', async () => {
    const developer = await newDeveloper(platform)
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    let voted = false
    table.transact = async (writes) => {
      if (!voted && writes.some(({ entity }) => entity.name === AgentRequestEntity.name)) {
        voted = true
        await transact([AgentRequestEntity.update(request, { add: { votes: 1 } })])
      }
      return transact(writes)
    }
    const { body } = await developer.call('POST', claimPath())
    table.transact = transact
    expect([body.status, body.votes]).toEqual(['claimed', 4])
  })
})
