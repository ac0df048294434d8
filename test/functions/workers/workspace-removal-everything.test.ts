import { globSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { ENTITIES } from '#shared/entities.ts'
import { UserEntity, type Workspace, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { deleteAccount } from '#shared/lifecycle/people/delete-account.ts'
import type { AnyEntity } from '#shared/table/entity.ts'
import { workOf } from '#test/functions/console/people-support.ts'
import { currentShapes } from '#test/shapes/compare.ts'
import { newApp, newDeveloper, publish } from '#testkit/developers.ts'
import { sessionOf } from '#testkit/fixtures.ts'
import { hostActors } from '#testkit/hosts.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'
import { entityOf, runRemovalAfterGrace, runRound, scanTable } from './workspace-removal-support.ts'

const drafts = usingPlatform()
interface Properties {
  properties?: Record<string, unknown>
}

const SHARED = new URL('../../../shared/', import.meta.url)

it('every entity is listed and declares what happens to it when its workspace is deleted', async () => {
  const names: string[] = []
  for (const file of globSync('**/entity.ts', { cwd: SHARED })) {
    for (const value of Object.values(await import(new URL(file, SHARED).href))) {
      if (typeof value === 'object' && value !== null && 'pk' in value && 'schema' in value && 'name' in value) {
        names.push(String(value.name))
      }
    }
  }
  expect([...ENTITIES.keys()].sort(), 'shared/entities.ts').toEqual([...new Set(names)].sort())
  for (const { name, retention } of ENTITIES.values())
    for (const owner of ['workspace', 'person', 'app'] as const)
      expect(['removed', 'expires', 'kept'], `${name}, ${owner}`).toContain(retention[owner])
})

const SHAPES = currentShapes()

/** Fields with people by id and name, and fields whose name says that they hold text or a way to reach somebody. */
const fieldsOf = (name: string) => {
  const properties = Object.entries((SHAPES[name]?.schema.properties ?? {}) as Record<string, Properties>)
  const isPerson = ({ properties: inner = {} }: Properties) =>
    'id' in inner && 'name' in inner && Object.keys(inner).every((key) => ['id', 'name', 'type'].includes(key))
  const named = (pattern: RegExp) => properties.flatMap(([field]) => (pattern.test(field) ? [field] : []))
  return {
    all: properties.map(([field]) => field),
    names: properties.flatMap(([field, schema]) => (isPerson(schema) ? [field] : [])),
    text: named(
      /^(text|body|comment|caption|said|prompt|input|output|arguments|result|answer|title|reply|attachments)$/,
    ),
    contact: named(/^(email|contact_email|source_ip|user_agent|identity|username|telegram_id|legal_name)$/),
  }
}

it.each([...ENTITIES.values()])('$name declares its personal fields', ({ name, personal }) => {
  expect(personal).toBeDefined()
  const { names = [], text = [], contact = [] } = personal === 'none' ? {} : personal
  const declared = [...names, ...text, ...contact].map(String)
  const { all, ...found } = fieldsOf(name)
  expect(all).toEqual(expect.arrayContaining(declared))
  expect(names).toEqual(expect.arrayContaining(found.names))
  expect(declared).toEqual(expect.arrayContaining([...found.text, ...found.contact]))
})

it('a deleted draft leaves no record whose entity says that it is removed', async () => {
  const developer = await newDeveloper(drafts)
  const app = await newApp(developer)
  expect((await publish(developer, app)).status).toBe(201)
  const leftOf = async () =>
    (await scanTable(drafts)).flatMap((item) =>
      ENTITIES.get(entityOf(item))?.retention.app === 'removed' && JSON.stringify(item).includes(app.id)
        ? [entityOf(item)]
        : [],
    )
  const removed = [...ENTITIES.values()].flatMap(({ name, retention }) =>
    retention.app === 'removed' && !OF_OUTSIDE_AGENT.test(name) ? [name] : [],
  )
  expect(new Set(await leftOf())).toEqual(new Set(removed))
  expect((await developer.call('DELETE', `/api/v1/dev/apps/${app.id}`)).status).toBe(204)
  await drafts.drain()
  expect(await leftOf()).toEqual([])
})

describe('everything that requests to every endpoint stored', () => {
  const platform = usingPlatform()
  const stage = usingStage(platform)
  /** Entities of the records that the requests stored. */
  const made = new Set<string>()

  beforeAll(async () => {
    for (const endpoint of Object.values(requestFunctions).flat()) {
      if (!['api', 'mcp', 'a2a', 'console', 'oauth', 'connect', 'developer'].includes(endpoint.group)) continue
      // Each call needs a workspace of its own, which is removed later, and few reads add anything to theirs.
      if (endpoint.method === 'GET' && !MAKING_READS.includes(endpoint.id) && !DEEP) continue
      if (['console.me.delete', 'console.workspace.delete', 'console.workspace.restore'].includes(endpoint.id)) continue
      await stage.call(endpoint, await sampleCall(stage, endpoint))
    }
    await platform.drain()
    // A host is connected by a consent and its code: two requests that belong together.
    const host = hostActors(platform)
    const client = await host.register()
    await host.redeem(client, await host.consented(client, (await stage.actors.signIn()).token))
    for (const item of await scanTable(platform)) made.add(entityOf(item))
  })

  it('is removed with its person, or keeps no name of theirs, as its entity declares', async () => {
    const items = await scanTable(platform)
    const isPerson = ({ name, retention }: AnyEntity) => retention.person === 'removed' && !NOT_OF_ONE.test(name)
    const examples = [...ENTITIES.values()].filter(isPerson).flatMap(({ name }) => {
      const item = items.find((one) => entityOf(one) === name && personOf(one) !== undefined)
      return item ? [{ name, id: String(personOf(item)) }] : []
    })
    expect(examples.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['member', 'membership', 'notification-preferences', 'person-chat', 'request-vote']),
    )
    const ids = new Set(examples.map(({ id }) => id))
    const work = workOf(platform)
    for (const id of ids) {
      const user = await platform.deps.table.get(UserEntity, { id })
      if (user?.status !== 'active') continue
      // Some of the requests end sessions, so that the person may have none left.
      await deleteAccount(work, { user, session: sessionOf(platform.deps, id, user.home_workspace_id) })
    }
    platform.clock.advance(15 * MINUTE)
    await runRound(platform)
    const left = (await scanTable(platform)).flatMap((item) => {
      const entity = ENTITIES.get(entityOf(item))
      const owned = entity?.retention.person === 'removed' && [...ids].some((id) => JSON.stringify(item).includes(id))
      const { names = [] } = entity && entity.personal !== 'none' ? entity.personal : {}
      const named = names.some((field) => ids.has(idOf(item[field])) && nameOf(item[field]) !== 'Deleted user')
      return owned || named ? [`${item.pk} ${item.sk}`] : []
    })
    expect(left).toEqual([])
  })

  it('leaves with its workspace, but for the audit, other owners’ data, and expiring records', async () => {
    const unmade = [...ENTITIES.values()].filter(
      ({ name, retention }) => retention.workspace === 'removed' && !made.has(name),
    )
    expect(unmade.map(({ name }) => name).filter((name) => !UNMADE.test(name))).toEqual([])
    expect(platform.objects.size).toBeGreaterThan(0)

    await deleteAll()
    await runRemovalAfterGrace(platform)
    const now = platform.clock.now()
    const left = await scanTable(platform)
    const wrong = left.filter((item) => {
      const retention = ENTITIES.get(entityOf(item))?.retention
      if (retention?.workspace === 'kept') return false
      if (retention?.days !== undefined) return !(Number(item.ttl) * 1_000 <= now + retention.days * 86_400_000)
      // Counters of a developer, an app or the platform belong to no workspace.
      return !(entityOf(item) === 'counter' && /^COUNT#(dev_|app_|platform$)/.test(String(item.pk)))
    })
    expect(wrong.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
    expect(left.some((item) => entityOf(item) === 'audit' && item.action === 'workspace.removed')).toBe(true)
    expect([...platform.objects.keys()].filter((key) => /^(files|payloads|tasks)\//.test(key))).toEqual([])
  })

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

/** Returns the person whom a record belongs to. */
const personOf = ({ user_id, owner_id, pk, sk }: Record<string, unknown>): string | undefined =>
  [user_id, owner_id, ...`${pk}#${sk}`.split('#')].map(String).find((id) => id.startsWith('usr_'))

const idOf = (value: unknown): string => String((value as { id?: string } | undefined)?.id)
const nameOf = (value: unknown): unknown => (value as { name?: string } | undefined)?.name

/** Reads whose valid call stores what no write does. */
const MAKING_READS = ['console.runs.trace', 'developer.listen.stream']

/** Only versions with an outside A2A agent have it. */
const OF_OUTSIDE_AGENT = /^card-watch$/

/** A Telegram user's records name the person by their identity. */
const NOT_OF_ONE = /^(identity|bot-chat|messenger-)/

/**
 * Entities that no single valid request creates: they need a model, a bot, an outside agent, a sandbox or a crash. Their partitions are found
 * through others.
 */
const UNMADE = /^(inline-|outside-task$|sandbox-address$|messenger-|waiting-message$|loose-|notification-delivery$)/
