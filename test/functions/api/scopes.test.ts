import { describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

/** Returns the answer for listing runs with these granted and denied scopes. */
const listRuns = async (scopes: Scope[], denied_scopes: Scope[]) => {
  const { token, workspaceId } = await installed(platform.deps, { scopes })
  await platform.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set: { denied_scopes } })])
  const { status, body } = await platform.call('GET', '/api/v1/runs', { token })
  return [status, body.error?.code]
}

describe('an endpoint’s scope', () => {
  it('is insufficient_scope when it was not granted, even if the workspace denies it, too', async () => {
    expect(await listRuns(['workspace:read'], ['runs:read'])).toEqual([403, 'insufficient_scope'])
  })

  it('is scope_denied_by_admin when the workspace denies it, even if a :write scope implies it', async () => {
    expect(await listRuns(['runs:read'], ['runs:read'])).toEqual([403, 'scope_denied_by_admin'])
    expect(await listRuns(['runs:write'], ['runs:read'])).toEqual([403, 'scope_denied_by_admin'])
  })

  it('is implied by its :write scope, and remains when only that is denied', async () => {
    expect(await listRuns(['runs:write'], [])).toEqual([200, undefined])
    expect(await listRuns(['runs:write'], ['runs:write'])).toEqual([200, undefined])
  })
})

describe('GET /tools', () => {
  const tool = async (token: string) => {
    const { items } = (await platform.call('GET', '/api/v1/tools?all=true&limit=100', { token })).body
    return items.find(({ name }: { name: string }) => name === 'workspace_info')
  }

  it('reports a tool as allowed only if calling it is allowed', async () => {
    const { token } = await installed(platform.deps, { scopes: ['workspace:read'] })
    expect(await tool(token)).toMatchObject({ allowed: false, denied_reason: expect.stringContaining('tools:invoke') })
    const banned = await installed(platform.deps, { scopes: ['workspace:read', 'tools:invoke'] })
    expect(await tool(banned.token)).toMatchObject({ allowed: true })
    const denied_scopes: Scope[] = ['tools:invoke']
    await platform.deps.table.transact([WorkspaceEntity.update({ id: banned.workspaceId }, { set: { denied_scopes } })])
    expect(await tool(banned.token)).toMatchObject({ allowed: false })
  })

  it('has only the tools that may be called, unless all are asked for', async () => {
    const names = async (query: string, token: string): Promise<string[]> => {
      const { body } = await platform.call('GET', `/api/v1/tools${query}`, { token })
      return body.items.map(({ name }: { name: string }) => name)
    }
    const { token, workspaceId } = await installed(platform.deps, { scopes: ['workspace:read', 'tools:invoke'] })
    expect(await names('', token)).toEqual(['workspace_info', 'http_fetch'])
    expect(await names('?all=true', token)).toContain('notify_user')
    const denied_tools = ['http_fetch']
    await platform.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set: { denied_tools } })])
    expect(await names('?all=false', token)).toEqual(['workspace_info'])
    const without = await installed(platform.deps, { scopes: ['workspace:read'] })
    expect(await names('', without.token)).toEqual([])
  })

  it('is paginated', async () => {
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
