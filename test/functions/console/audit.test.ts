import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, UserEntity } from '#shared/identity/people/entity.ts'
import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { type Installed, installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()
let app: Installed
let owner: ReturnType<typeof consoleOf>
beforeEach(async () => {
  platform.clock.advance(MINUTE)
  app = await installed(platform.deps)
  owner = consoleOf(platform, app.person.token)
})

const policy = (denied_tools: string[]) =>
  owner.call('PUT', `/installations/${app.installation.id}/policy`, { denied_tools })
const audit = (query = '') => owner.read(`/audit${query}`)

/** Builds an entry as it would be written at that time. */
const entry = (
  fields: { action?: string; actor?: { type: string; id: string }; details?: Record<string, unknown> } = {},
) => {
  const now = platform.clock.now()
  return AuditEntity.create({
    ...stampOf(newId('audit', now)),
    scope: app.workspaceId,
    action: 'agent.called',
    actor: { type: 'agent', id: app.installation.id },
    target: { type: 'agent', id: 'stock-helper' },
    details: {},
    chain: { day: '', seq: 0, previous: '', hash: '' },
    ...fields,
  })
}

describe('the audit', () => {
  it('shows actor, action, subject, the state before and after, and the request, newest first', async () => {
    const first = await policy(['http_fetch'])
    const second = await policy([])
    const { items } = await audit()
    expect(items.slice(0, 2)).toMatchObject([
      {
        action: 'installation.policy_changed',
        actor: { type: 'user', id: app.person.user.id, name: app.person.user.name },
        subject: { type: 'installation', id: app.installation.id, name: app.app.name },
        before: { denied_tools: ['http_fetch'] },
        after: { denied_tools: [] },
        request_id: second.headers['x-request-id'],
      },
      { after: { denied_tools: ['http_fetch'] }, request_id: first.headers['x-request-id'] },
    ])
    expect(JSON.stringify(items)).not.toContain('203.0.113')
  })

  it('names a deleted person as deleted, platform admins collectively, and agents by name', async () => {
    const { user } = await member(platform.deps, app.workspaceId, 'admin')
    await platform.deps.table.transact([
      entry({ action: 'member.joined', actor: { type: 'user', id: user.id } }),
      UserEntity.delete({ id: user.id }),
      MemberEntity.delete({ workspace_id: app.workspaceId, user_id: user.id }),
    ])
    platform.clock.advance(10)
    await platform.deps.table.transact([entry({ actor: { type: 'admin', id: newId('admin', 0) } })])
    platform.clock.advance(10)
    await platform.deps.table.transact([entry()])
    expect((await audit()).items.map(({ actor }: { actor: { name: string } }) => actor.name)).toEqual([
      app.app.name,
      'A platform admin',
      'Deleted person',
    ])
  })

  it('names the agents, apps and people that the details mention, also before and after, by id', async () => {
    const { user } = await member(platform.deps, app.workspaceId, 'admin')
    const details = {
      app_id: app.app.id,
      scopes: ['runs:read'],
      before: { owner: user.id },
      after: app.installation.id,
    }
    await platform.deps.table.transact([entry({ details })])
    const { items } = await audit()
    expect(items[0].names).toEqual({
      [app.app.id]: app.app.name,
      [user.id]: user.name,
      [app.installation.id]: app.app.name,
    })
  })

  it('filters by action, action mask, actor, subject and time', async () => {
    const from = new Date(platform.clock.now()).toISOString()
    await platform.deps.table.transact([entry()])
    platform.clock.advance(HOUR)
    const between = new Date(platform.clock.now()).toISOString()
    platform.clock.advance(10)
    await policy(['http_fetch'])
    const actions = async (query: string) => (await audit(query)).items.map(({ action }: { action: string }) => action)
    const [called, changed] = ['agent.called', 'installation.policy_changed']
    expect(await actions('')).toEqual([changed, called])
    expect(await actions('?action=agent.called')).toEqual([called])
    expect(await actions('?action=installation.*')).toEqual([changed])
    expect(await actions(`?actor=${app.person.user.id}`)).toEqual([changed])
    expect(await actions('?subject=stock-helper')).toEqual([called])
    expect(await actions(`?since=${between}`)).toEqual([changed])
    expect(await actions(`?until=${between}`)).toEqual([called])
    expect(await actions(`?since=${from}&until=${between}&action=installation.*`)).toEqual([])
    expect(await actions('?since=1969-12-31T23:59:59Z')).toEqual([changed, called])
    expect(await actions('?until=1969-12-31T23:59:59Z')).toEqual([])
    for (const query of ['?since=yesterday', '?action=DROP TABLE', '?actor=']) {
      expect((await owner.call('GET', `/audit${query}`)).status, query).toBe(422)
    }
  })

  it('is paginated, with short pages under a rare filter that continue to distant entries', async () => {
    await policy(['http_fetch'])
    for (let i = 0; i < 1_050; ) {
      const batch = []
      for (; batch.length < 50; i++) {
        platform.clock.advance(1)
        batch.push(entry())
      }
      await platform.deps.table.transact(batch)
    }
    const seen = new Set<string>()
    const found: string[] = []
    let pages = 0
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const page: { items: { id: string; action: string }[]; next_cursor: string | null } = await audit(
        `?action=installation.*&limit=10${cursor && `&cursor=${cursor}`}`,
      )
      for (const { id, action } of page.items) found.push(action) && seen.add(id)
      cursor = page.next_cursor
    }
    expect([found, pages]).toEqual([['installation.policy_changed'], 2])
    const first = await audit('?limit=100')
    const next = await audit(`?limit=100&cursor=${first.next_cursor}`)
    const ids = [...first.items, ...next.items].map(({ id }: { id: string }) => id)
    expect([ids.length, new Set(ids).size, ids]).toEqual([200, 200, ids.toSorted().toReversed()])
  })
})
