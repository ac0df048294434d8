import { describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/entities/people.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { installed } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

const platform = usingPlatform()

/** What an installation with these scopes hears when it lists runs where these are banned. */
const listRuns = async (scopes: Scope[], denied_scopes: Scope[]) => {
  const { token, workspaceId } = await installed(platform.deps, { scopes })
  await platform.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set: { denied_scopes } })])
  const { status, body } = await platform.call('GET', '/api/v1/runs', { token })
  return [status, body.error?.code]
}

describe('an endpoint’s scope', () => {
  it('that was not granted is insufficient_scope, though the organization bans it too: the stronger reason', async () => {
    expect(await listRuns(['workspace:read'], ['runs:read'])).toEqual([403, 'insufficient_scope'])
  })

  it('that the organization bans is scope_denied_by_admin, also where a :write implies it', async () => {
    expect(await listRuns(['runs:read'], ['runs:read'])).toEqual([403, 'scope_denied_by_admin'])
    expect(await listRuns(['runs:write'], ['runs:read'])).toEqual([403, 'scope_denied_by_admin'])
  })

  it('is implied by its :write, and stays when only that is banned', async () => {
    expect(await listRuns(['runs:write'], [])).toEqual([200, undefined])
    expect(await listRuns(['runs:write'], ['runs:write'])).toEqual([200, undefined])
  })
})

describe('GET /tools', () => {
  const tool = async (token: string) => {
    const { items } = (await platform.call('GET', '/api/v1/tools?limit=100', { token })).body
    return items.find(({ name }: { name: string }) => name === 'workspace_info')
  }

  it('says allowed of a tool only where calling it is, too', async () => {
    const { token } = await installed(platform.deps, { scopes: ['workspace:read'] })
    expect(await tool(token)).toMatchObject({ allowed: false, denied_reason: expect.stringContaining('tools:invoke') })
    const banned = await installed(platform.deps, { scopes: ['workspace:read', 'tools:invoke'] })
    expect(await tool(banned.token)).toMatchObject({ allowed: true })
    const denied_scopes: Scope[] = ['tools:invoke']
    await platform.deps.table.transact([WorkspaceEntity.update({ id: banned.workspaceId }, { set: { denied_scopes } })])
    expect(await tool(banned.token)).toMatchObject({ allowed: false })
  })

  it('comes in pages', async () => {
    const { token } = await installed(platform.deps)
    const names: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await platform.call('GET', `/api/v1/tools?limit=7${cursor}`, { token })
      names.push(...body.items.map(({ name }: { name: string }) => name))
      if (!body.has_more) break
      cursor = `&cursor=${body.next_cursor}`
    }
    const { body } = await platform.call('GET', '/api/v1/tools', { token })
    expect(names).toEqual(body.items.map(({ name }: { name: string }) => name))
    expect(names.length).toBeGreaterThan(7)
  })
})
