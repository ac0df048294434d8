import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { FATES } from '#shared/domain/removal/fates.ts'
import { type Workspace, WorkspaceEntity } from '#shared/entities/people.ts'
import { samples } from '#test/contract/samples.ts'
import { usingStage } from '#test/contract/using.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { afterGrace, entityOf, everything } from './support.ts'

const ENTITIES = new URL('../../../shared/entities/', import.meta.url)

it('of every entity it is said what becomes of it with its workspace', async () => {
  const names: string[] = []
  for (const file of readdirSync(ENTITIES)) {
    for (const value of Object.values(await import(new URL(file, ENTITIES).href))) {
      if (typeof value === 'object' && value !== null && 'pk' in value && 'schema' in value && 'name' in value) {
        names.push(String(value.name))
      }
    }
  }
  expect([...FATES.keys()].sort(), 'shared/domain/removal/fates.ts').toEqual(names.sort())
})

describe('workspaces in which everything was done that can be done', () => {
  const platform = usingPlatform()
  const stage = usingStage(platform)

  it('leave nothing in the table and the bucket but the audit, what is others’, and what vanishes by itself', async () => {
    for (const endpoint of Object.values(requestFunctions).flat()) {
      // That each has a sample, the contract tests see to.
      if (!['api', 'console', 'oauth', 'developer'].includes(endpoint.group) || !samples[endpoint.id]) continue
      if (['console.me.delete', 'console.workspace.delete', 'console.workspace.restore'].includes(endpoint.id)) continue
      await stage.call(endpoint, await stage.sample(endpoint))
    }
    await platform.drain()
    const made = new Set((await everything(platform)).map(entityOf))
    const unmade = [...FATES.values()].filter(({ fate, entity }) => fate === 'goes' && !made.has(entity.name))
    expect(unmade.map(({ entity }) => entity.name).filter((name) => !UNMADE.test(name))).toEqual([])
    expect(platform.objects.size).toBeGreaterThan(0)

    await deleteAll()
    await afterGrace(platform)
    const now = platform.clock.now()
    const left = await everything(platform)
    const wrong = left.filter((item) => {
      const fate = FATES.get(entityOf(item))
      if (fate?.fate === 'stays') return false
      if (fate?.days !== undefined) return !(Number(item.ttl) * 1_000 <= now + fate.days * 86_400_000)
      // What is counted for a developer, an app or the platform is no workspace's.
      return !(entityOf(item) === 'counter' && /^COUNT#(dev_|app_|platform$)/.test(String(item.pk)))
    })
    expect(wrong.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
    expect(left.some((item) => entityOf(item) === 'audit' && item.action === 'workspace.removed')).toBe(true)
    expect([...platform.objects.keys()].filter((key) => /^(files|payloads|tasks)\//.test(key))).toEqual([])
  }, 240_000)

  /** Sandbox workspaces too, which their owners cannot delete. */
  const deleteAll = async () => {
    const now = platform.clock.now()
    for (const item of await everything(platform)) {
      if (entityOf(item) !== WorkspaceEntity.name) continue
      const workspace = { ...(await platform.deps.table.get(WorkspaceEntity, { id: String(item.id) })) } as Workspace
      await platform.deps.table.transact([
        WorkspaceEntity.replace({ ...workspace, status: 'deleting', deletes_at: now + 14 * 86_400_000 }),
      ])
    }
  }
})

/** What takes more than one valid request: a model, a bot, a death at the right moment. It lies in partitions that others lead to. */
const UNMADE = /^(inline-|messenger-|waiting-message$|loose-|told-person$)/
