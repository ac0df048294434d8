import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { ENTITIES } from '#shared/entities.ts'
import { type Workspace, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'
import { entityOf, runRemovalAfterGrace, scanTable } from './workspace-removal-support.ts'

const SHARED = new URL('../../../shared/', import.meta.url)

it('every entity is listed and declares what happens to it when its workspace is deleted', async () => {
  const names: string[] = []
  for (const file of globSync('*/*/entity.ts', { cwd: SHARED })) {
    for (const value of Object.values(await import(new URL(file, SHARED).href))) {
      if (typeof value === 'object' && value !== null && 'pk' in value && 'schema' in value && 'name' in value) {
        names.push(String(value.name))
      }
    }
  }
  expect([...ENTITIES.keys()].sort(), 'shared/entities.ts').toEqual([...new Set(names)].sort())
  for (const { name, retention } of ENTITIES.values())
    expect(['removed', 'expires', 'kept'], name).toContain(retention.policy)
})

describe('deleted workspaces in which every endpoint was used', () => {
  const platform = usingPlatform()
  const stage = usingStage(platform)

  it('leave nothing in the table and the bucket but the audit, other owners’ data, and expiring records', async () => {
    for (const endpoint of Object.values(requestFunctions).flat()) {
      if (!['api', 'console', 'oauth', 'developer'].includes(endpoint.group)) continue
      if (['console.me.delete', 'console.workspace.delete', 'console.workspace.restore'].includes(endpoint.id)) continue
      await stage.call(endpoint, await sampleCall(stage, endpoint))
    }
    await platform.drain()
    const made = new Set((await scanTable(platform)).map(entityOf))
    const unmade = [...ENTITIES.values()].filter(
      ({ name, retention }) => retention.policy === 'removed' && !made.has(name),
    )
    expect(unmade.map(({ name }) => name).filter((name) => !UNMADE.test(name))).toEqual([])
    expect(platform.objects.size).toBeGreaterThan(0)

    await deleteAll()
    await runRemovalAfterGrace(platform)
    const now = platform.clock.now()
    const left = await scanTable(platform)
    const wrong = left.filter((item) => {
      const retention = ENTITIES.get(entityOf(item))?.retention
      if (retention?.policy === 'kept') return false
      if (retention?.days !== undefined) return !(Number(item.ttl) * 1_000 <= now + retention.days * 86_400_000)
      // Counters of a developer, an app or the platform belong to no workspace.
      return !(entityOf(item) === 'counter' && /^COUNT#(dev_|app_|platform$)/.test(String(item.pk)))
    })
    expect(wrong.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
    expect(left.some((item) => entityOf(item) === 'audit' && item.action === 'workspace.removed')).toBe(true)
    expect([...platform.objects.keys()].filter((key) => /^(files|payloads|tasks)\//.test(key))).toEqual([])
  }, 240_000)

  /** Deletes sandbox workspaces, too, which their owners can't delete. */
  const deleteAll = async () => {
    const now = platform.clock.now()
    for (const item of await scanTable(platform)) {
      if (entityOf(item) !== WorkspaceEntity.name) continue
      const workspace = { ...(await platform.deps.table.get(WorkspaceEntity, { id: String(item.id) })) } as Workspace
      await platform.deps.table.transact([
        WorkspaceEntity.replace({ ...workspace, status: 'deleting', deletes_at: now + 14 * 86_400_000 }),
      ])
    }
  }
})

/**
 * Entities that no single valid request creates: they need a model, a bot, a sandbox or a crash. Their partitions are found
 * through others.
 */
const UNMADE = /^(inline-|sandbox-address$|messenger-|waiting-message$|loose-|told-person$)/
