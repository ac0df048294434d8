import { describe, expect, it } from 'vitest'
import { pendingUpgrades, runUpgrades, type UpgradeOptions } from '#ops/upgrade/run.ts'
import type { Upgrade } from '#ops/upgrade/upgrade.ts'
import { UPGRADES } from '#ops/upgrade/upgrades.ts'
import { ListedAppEntity } from '#shared/catalogue/apps/entity.ts'
import { isUpgradeDone, NEWEST_UPGRADE, recordBirth } from '#shared/foundation/upgrades/done.ts'
import { BirthEntity, UpgradeEntity } from '#shared/foundation/upgrades/entity.ts'
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

/** Creates records of the kind that the made-up upgrades change. */
const put = async (from: number, to: number): Promise<string[]> => {
  const ids = Array.from({ length: to - from }, (_, n) => `app_test${from + n}`)
  const listed = { listed_at: 1, words: [], places: [], revision: 0 }
  for (const app_id of ids) await platform.deps.table.transact([ListedAppEntity.create({ app_id, ...listed })])
  return ids
}

const read = (ids: string[]) => Promise.all(ids.map((app_id) => platform.deps.table.get(ListedAppEntity, { app_id })))
const categoriesOf = async (ids: string[]) => (await read(ids)).map((item) => item?.category)

/** Makes an upgrade that gives each record a category and raises its revision. It calls `before` first. */
const categorize = (id: string, before: (appId: string) => Promise<void> | void = () => {}) => {
  const upgrade: Upgrade<typeof ListedAppEntity> = {
    id,
    title: 'gives a category',
    entity: ListedAppEntity,
    async writes({ app_id, category, revision }) {
      if (!app_id.startsWith('app_test') || category === id) return []
      await before(app_id)
      const set = { category: id, revision: revision + 1 }
      return [ListedAppEntity.update({ app_id }, { set }, { where: { revision } })]
    },
  }
  return upgrade
}

describe('npm run upgrade', () => {
  it('runs what is pending, and then says that every upgrade is done', async () => {
    const done = await run()
    expect(done, done.output).toMatchObject({ code: 0 })
    expect(await run('--check')).toEqual({ code: 0, output: 'Every upgrade is done.\n' })
  })

  it('names what is wrong with its options', async () => {
    expect(await run('--rate', '0')).toEqual({
      code: 1,
      output: '--rate must be a whole number of at least 1, not 0.\n',
    })
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

  it('is pending until it ran, and a dry run only counts', async () => {
    const ids = await put(70, 75)
    const upgrade = categorize('0903-dry')
    const { work } = optionsOf()
    const lines: string[] = []
    expect(await pendingUpgrades(work, [upgrade])).toEqual([upgrade])
    await runUpgrades([upgrade], optionsOf({ dryRun: true, say: (line) => lines.push(line) }))
    expect(lines.at(-1)).toMatch(/^0903-dry: (\d+) of \1 records would be changed$/)
    expect(await categoriesOf(ids)).not.toContain('0903-dry')
    expect(await pendingUpgrades(work, [upgrade])).toEqual([upgrade])
    await runUpgrades([upgrade], optionsOf())
    expect(await pendingUpgrades(work, [upgrade])).toEqual([])
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
    expect((await read(ids)).map((item) => item?.revision)).toEqual(ids.map(() => 1))
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

  it('without records opens a gate: functions write the new shape once it is done, and not before', async () => {
    const { table } = platform.deps
    const release = { id: '0903-gate', title: 'lets functions write another shape' }
    expect(await isUpgradeDone(table, release.id)).toBe(false)
    await runUpgrades([release], optionsOf({ dryRun: true }))
    expect(await isUpgradeDone(table, release.id)).toBe(false)
    await runUpgrades([release], optionsOf())
    expect(await isUpgradeDone(table, release.id)).toBe(true)
  })

  it('has a number of its own, in the order of creation', () => {
    const numbers = UPGRADES.map(({ id }) => /^(\d{4})-[a-z0-9-]+$/.exec(id)?.[1])
    expect(numbers).toEqual([...new Set(numbers)].toSorted())
    expect(Number(numbers.at(-1) ?? 0)).toBe(NEWEST_UPGRADE)
  })
})

describe('a new table', () => {
  const other = usingPlatform()
  const swept = usingPlatform()
  const upgrades = [
    { id: '0001-before', title: 'was there when the table was new' },
    { id: '0002-after', title: 'came later' },
  ]

  it('needs no upgrade that its code has, from its first record on', async () => {
    const { table } = other.deps
    expect(await isUpgradeDone(table, '0001-before', 1)).toBe(true)
    expect(await table.get(BirthEntity, {})).toEqual({ newest: 1 })
  })

  it('gets the upgrades of later releases: the command lists and runs just those', async () => {
    const { table } = other.deps
    const options = upgradeOptions(other)
    expect(await isUpgradeDone(table, '0002-after', 2)).toBe(false)
    expect(await pendingUpgrades(options.work, upgrades)).toEqual([upgrades[1]])
    expect((await runUpgrades(upgrades, options)).map(({ id }) => id)).toEqual(['0002-after'])
    expect(await isUpgradeDone(table, '0002-after', 2)).toBe(true)
  })

  it('is born once, whoever asks and however many at once', async () => {
    const { table } = platform.deps
    await table.transact([BirthEntity.delete({})])
    // Each of these stands for a function of its own, which remembers nothing.
    const functions = Array.from({ length: 8 }, () => ({
      get: table.get.bind(table),
      transact: table.transact.bind(table),
    }))
    const births = await Promise.all(functions.map((one, n) => recordBirth(one, n)))
    expect(new Set(births.map(({ newest }) => newest)).size).toBe(1)
    expect(await table.get(BirthEntity, {})).toEqual(births[0])
  })

  it('is recorded by the sweeper’s first round', async () => {
    await swept.sweep()
    expect(await swept.deps.table.get(BirthEntity, {})).toEqual({ newest: NEWEST_UPGRADE })
  })
})
