import { beforeEach, describe, expect, it } from 'vitest'
import { listByLook } from '#ops/upgrade/0003-similar-names.ts'
import { markAppsOfBlocked } from '#ops/upgrade/0004-blocked-developers.ts'
import { runUpgrades } from '#ops/upgrade/run.ts'
import type { Upgrade } from '#ops/upgrade/upgrade.ts'
import { AppEntity, ListedAppEntity, ListingPlaceEntity } from '#shared/catalogue/apps/entity.ts'
import { lookShelf } from '#shared/catalogue/apps/places.ts'
import { UpgradeEntity } from '#shared/foundation/upgrades/entity.ts'
import { asAdmin, submitApp } from '#test/functions/admin/moderation-support.ts'
import { listApp, signIn } from '#test/functions/console/marketplace-support.ts'
import { unique } from '#testkit/developers.ts'
import { upgradeOptions } from '#testkit/upgrades.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const admin = (...given: Parameters<ReturnType<typeof asAdmin>>) => asAdmin(platform)(...given)

beforeEach(() => platform.clock.advance(60_000))

/** Runs an upgrade as if for the first time. @returns the number of records changed */
const upgraded = async (upgrade: Upgrade): Promise<number | undefined> => {
  await platform.deps.table.transact([UpgradeEntity.delete({ id: upgrade.id })])
  return (await runUpgrades([upgrade], upgradeOptions(platform)))[0]?.changed
}

describe('the upgrade of similar names', () => {
  /** Lists an app as the version before did: on shelves, but not by its look. */
  const listedBefore = async (name: string) => {
    const { app } = await listApp(platform, { name })
    const { table } = platform.deps
    const listed = await table.get(ListedAppEntity, { app_id: app.id })
    const places = listed?.places ?? []
    const byLook = places.filter(({ shelf }) => shelf.startsWith(lookShelf('')))
    expect(byLook).not.toEqual([])
    await table.transact([
      ListedAppEntity.update({ app_id: app.id }, { set: { places: places.filter((at) => !byLook.includes(at)) } }),
      ...byLook.map((at) => ListingPlaceEntity.delete(at)),
    ])
    return app
  }
  /** Submits a copy of another developer, and returns what its review says of the name. */
  const checkOfCopy = async (name: string) => {
    const { app } = await submitApp(platform, { name: name.replace('o', 'о') })
    const { body } = await admin('GET', `/admin/apps/${app.id}/checks`)
    return body.checks.find(({ id }: { id: string }) => id === 'similar_name').status
  }

  it('lets a review find a name that is confusable with that of an app listed before, once', async () => {
    const name = `Harbor Pilot ${unique('n')}`
    const app = await listedBefore(name)
    expect(await checkOfCopy(name), 'before').toBe('passed')
    expect(await upgraded(listByLook)).toBe(1)
    expect(await checkOfCopy(name), 'after').toBe('failed')
    expect(await upgraded(listByLook)).toBe(0)
    // The marketplace shows it as before, once.
    const { token } = await signIn(platform)
    const { body } = await platform.call('GET', `/console/marketplace?q=${app.slug}`, { token })
    expect(body.items).toMatchObject([{ slug: app.slug }])
  })

  it('lists no app that was suspended since', async () => {
    const app = await listedBefore(`Quay Master ${unique('n')}`)
    await platform.deps.table.transact([AppEntity.update(app, { set: { status: 'suspended' } })])
    expect(await upgraded(listByLook)).toBe(0)
  })
})

describe('the upgrade of blocked developers', () => {
  it('stops new installations of the apps of those who were blocked before, and of no others', async () => {
    const blocked = await listApp(platform)
    const honest = await listApp(platform)
    const { status } = await admin('POST', `/admin/developers/${blocked.developer.id}/block`, { reason: 'Deceives.' })
    expect(status).toBe(200)
    // The version before didn't mark the developer's apps.
    const { table } = platform.deps
    await table.transact([AppEntity.update(blocked.app, { set: { developer_blocked: undefined } })])
    const { token } = await signIn(platform)
    const install = async ({ app: { slug } }: typeof blocked) =>
      (await platform.call('POST', '/console/installations', { token, body: { slug } })).status
    expect(await upgraded(markAppsOfBlocked)).toBe(1)
    expect([await install(blocked), await install(honest)]).toEqual([403, 201])
    expect(await upgraded(markAppsOfBlocked)).toBe(0)
    expect((await admin('POST', `/admin/developers/${blocked.developer.id}/unblock`)).status).toBe(200)
    expect(await install(blocked)).toBe(201)
  })
})
