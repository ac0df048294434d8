import { describe, expect, it } from 'vitest'
import { upgradeData } from '#local/upgrade.ts'
import { runUpgrades, type UpgradeOptions } from '#ops/upgrade/run.ts'
import type { Upgrade } from '#ops/upgrade/upgrade.ts'
import { UPGRADES } from '#ops/upgrade/upgrades.ts'
import { ListedAppEntity } from '#shared/catalogue/apps/entity.ts'
import { unlistingWrites } from '#shared/catalogue/apps/list-app.ts'
import { UpgradeEntity } from '#shared/foundation/upgrades/entity.ts'
import { listApp, signIn } from '#test/functions/console/marketplace-support.ts'
import { runCommand } from '#testkit/command.ts'
import { upgradeOptions } from '#testkit/upgrades.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const optionsOf = (change: Partial<UpgradeOptions> = {}): UpgradeOptions => ({ ...upgradeOptions(platform), ...change })

/** Runs the operator's command as a shell would. */
const run = (...args: string[]) =>
  runCommand(
    'ops/upgrade.ts',
    [...args, '--stage', 'prod', '--table', platform.tableName, '--audit-table', platform.auditTableName],
    {
      env: { AWS_ENDPOINT_URL_DYNAMODB: platform.store.endpoint },
    },
  )

/** Finds records of a kind that the upgrades of these tests read, by their category. */
const put = async (from: number, to: number): Promise<string[]> => {
  const ids = Array.from({ length: to - from }, (_, n) => `app_test${from + n}`)
  for (const app_id of ids) await platform.deps.table.transact([ListedAppEntity.create({ app_id, listed_at: 1 })])
  return ids
}
/** Stores an app as it was listed before the marketplace had shelves. */
const listWithoutShelves = async ({ id: app_id }: { id: string }): Promise<void> => {
  const { table } = platform.deps
  const listed = await table.get(ListedAppEntity, { app_id })
  await table.transact(unlistingWrites(listed))
  await table.transact([ListedAppEntity.create({ app_id, listed_at: listed?.listed_at ?? 0 })])
}

const categoriesOf = async (ids: string[]) => {
  const items = await Promise.all(ids.map((app_id) => platform.deps.table.get(ListedAppEntity, { app_id })))
  return items.map((item) => item?.category)
}

/** Gives each of the test's records a category and raises its revision; calls `before` first. */
const categorize = (id: string, before: (appId: string) => Promise<void> | void = () => {}) => {
  const upgrade: Upgrade<typeof ListedAppEntity> = {
    id,
    title: 'gives a category',
    entity: ListedAppEntity,
    async writes({ app_id, category, revision = 0 }) {
      if (!app_id.startsWith('app_test') || category === id) return []
      await before(app_id)
      const where = revision === 0 ? {} : { revision }
      return [ListedAppEntity.update({ app_id }, { set: { category: id, revision: revision + 1 } }, { where })]
    },
  }
  return upgrade
}

describe('npm run upgrade', () => {
  it('puts apps that were listed before the marketplace had shelves onto them, once', async () => {
    const { app } = await listApp(platform)
    await listWithoutShelves(app)
    const { token } = await signIn(platform, 'owner', 'upgrades')
    const shown = async () => (await platform.call('GET', `/console/marketplace?q=${app.slug}`, { token })).body.items
    expect(await shown()).toEqual([])

    const pending = await run('--check')
    expect(pending).toEqual({ code: 2, output: expect.stringContaining('0001-marketplace-shelves') })
    const counted = await run('--dry-run')
    expect(counted.output).toContain('1 of 1 records would be changed')
    expect(await shown()).toEqual([])
    const done = await run()
    expect(done, done.output).toMatchObject({ code: 0, output: expect.stringContaining('1 of 1 records changed') })
    expect(await shown()).toMatchObject([{ slug: app.slug }])
    expect(await run('--check')).toEqual({ code: 0, output: 'Every upgrade is done.\n' })
  })

  it('names what is wrong with its options', async () => {
    expect(await run('--rate', '0')).toEqual({
      code: 1,
      output: '--rate must be a whole number of at least 1, not 0.\n',
    })
  })
})

describe('npm start', () => {
  const start = async (tableName: string): Promise<string[]> => {
    const { store, deps } = platform
    const lines: string[] = []
    const where = {
      endpoints: { dynamodb: store.endpoint },
      client: { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } },
      model: {
        functions: [
          {
            environment: {
              DIRECTORY_SHARDS: String(deps.settings.directoryShards),
              PAYLOAD_RETENTION_DAYS: String(deps.settings.payloadRetentionDays),
            },
          },
        ],
      },
    }
    await upgradeData({ ...where, tableName }, (line) => lines.push(line))
    return lines
  }

  it('prints what an upgrade changed, and nothing in an empty folder', async () => {
    expect(await start(await platform.store.createTable())).toEqual([])
    const { table } = platform.deps
    await listWithoutShelves((await listApp(platform)).app)
    const [{ id = '' } = {}] = UPGRADES
    await table.transact([UpgradeEntity.delete({ id })])
    expect(await start(platform.tableName)).toEqual([`upgrade ${id}: 1 records changed`])
    expect(await start(platform.tableName)).toEqual([])
  })
})

describe('an upgrade', () => {
  it('reaches every record, whatever the number of segments, and doesn’t run twice', async () => {
    const ids = await put(0, 40)
    const asked: string[] = []
    const upgrade = categorize('0900-all', (id) => void asked.push(id))
    await runUpgrades([upgrade], optionsOf({ segments: 7 }))
    expect(await categoriesOf(ids)).toEqual(ids.map(() => '0900-all'))
    expect(asked.toSorted()).toEqual(ids.toSorted())
    await runUpgrades([upgrade], optionsOf())
    expect(asked).toHaveLength(40)
    expect(await platform.deps.table.get(UpgradeEntity, { id: '0900-all' })).toMatchObject({
      state: 'done',
      changed: 40,
    })
  })

  it('that dies resumes, and changes nothing twice', async () => {
    const ids = await put(40, 60)
    let left = 7
    const dying = categorize('0901-dies', () => {
      if (left-- === 0) throw new Error('died')
    })
    await expect(runUpgrades([dying], optionsOf())).rejects.toThrow('died')
    expect((await categoriesOf(ids)).filter((category) => category === '0901-dies').length).toBeLessThan(20)
    await runUpgrades([categorize('0901-dies')], optionsOf())
    expect(await categoriesOf(ids)).toEqual(ids.map(() => '0901-dies'))
    const items = await Promise.all(ids.map((app_id) => platform.deps.table.get(ListedAppEntity, { app_id })))
    expect(items.map((item) => item?.revision)).toEqual(ids.map(() => 1))
  })

  it('loses no concurrent change to a record', async () => {
    const [app_id = ''] = await put(60, 61)
    const { table } = platform.deps
    await table.transact([ListedAppEntity.update({ app_id }, { set: { revision: 5 } })])
    let changed = false
    const upgrade = categorize('0902-races', async (id) => {
      if (id !== app_id || changed) return
      changed = true
      await table.transact([ListedAppEntity.update({ app_id }, { set: { revision: 6, featured_at: 1 } })])
    })
    await runUpgrades([upgrade], optionsOf())
    expect(await table.get(ListedAppEntity, { app_id })).toMatchObject({
      category: '0902-races',
      featured_at: 1,
      revision: 7,
    })
  })

  it('has its own number, in the order of creation', () => {
    const numbers = UPGRADES.map(({ id }) => /^(\d{4})-[a-z0-9-]+$/.exec(id)?.[1])
    expect(numbers).toEqual(UPGRADES.map((_, n) => String(n + 1).padStart(4, '0')))
  })
})
