import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { imageHashes } from '#shared/catalogue/apps/logos.ts'
import { LogoFetchEntity } from '#shared/catalogue/logos/entity.ts'
import { DAY, HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { filesOf } from '#test/functions/api/files-support.ts'
import { newApp, newDeveloper, publish } from '#testkit/developers.ts'
import { pngOf } from '#testkit/images.ts'
import { startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { recover } from './die-at-each.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.stop())

type Moment = 'before' | 'after'

/** Kills the process at its n-th call to the table or the bucket, before or after it, so that no call follows. */
const dying = async (n: number, moment: Moment, act: () => Promise<unknown>): Promise<boolean> => {
  const { table, objects } = platform.deps
  const places = [
    [table, 'transact'],
    [objects, 'put'],
    [objects, 'delete'],
  ] as unknown as [Record<string, (...args: unknown[]) => Promise<unknown>>, string][]
  const originals = places.map(([place, name]) => place[name] as () => Promise<unknown>)
  let calls = 0
  let died = false
  for (const [i, [place, name]] of places.entries()) {
    place[name] = async (...args) => {
      if (died) throw new Error('the process is dead')
      died = ++calls === n
      if (died && moment === 'before') throw new Error('the process died')
      const result = await originals[i]?.apply(place, args as [])
      if (died) throw new Error('the process died')
      return result
    }
  }
  try {
    await act()
  } finally {
    for (const [i, [place, name]] of places.entries()) place[name] = originals[i] as () => Promise<unknown>
  }
  return died
}

/** Plays a scenario with a death at each of its calls. @returns the number of calls */
const dieEverywhere = async (
  moment: Moment,
  play: (die: (act: () => Promise<unknown>) => Promise<boolean>) => Promise<boolean>,
) => {
  for (let n = 1; n < 50; n++) if (!(await play((act) => dying(n, moment, act)))) return n - 1
  throw new Error('the scenario doesn’t end')
}

const sweepLater = async (ms: number) => {
  platform.clock.advance(ms)
  await platform.sweep()
}

/** Names of an app's images in the bucket, and of those that its record names. */
const imagesOf = (app: string) => [...platform.objects.keys()].filter((key) => key.startsWith(`logos/${app}/`)).sort()
const knownImages = async (id: string) => {
  const app = await platform.deps.table.get(AppEntity, { id })
  return [...new Set(app ? imageHashes(app) : [])].map((hash) => `logos/${id}/${hash}`).sort()
}

describe.each<Moment>(['before', 'after'])('a process that dies %s a call', (moment) => {
  it('leaves no object without a record and no record without an object when it creates a file', async () => {
    const calls = await dieEverywhere(moment, async (die) => {
      const app = await filesOf(platform)
      const died = await die(() => app.create({ content: 'hello' }))
      await sweepLater(2 * DAY)
      const { items } = (await app.call('GET')).body
      const objects = [...platform.objects.keys()].filter((key) => key.startsWith(`files/${app.workspaceId}/`))
      expect(objects).toEqual(items.map(({ id }: { id: string }) => app.objectOf(id)))
      expect(await app.used()).toEqual([items.length, 5 * items.length])
      expect(await app.due()).toEqual([])
      return died
    })
    expect(calls).toBeGreaterThanOrEqual(3)
  })

  it('leaves no image that its app doesn’t refer to when it takes a screenshot', async () => {
    await dieEverywhere(moment, async (die) => {
      const developer = await newDeveloper(platform)
      const app = await newApp(developer)
      const image = pngOf(320, [1, 2, 3]).toString('base64')
      const upload = () => developer.call('POST', `/api/v1/dev/apps/${app.id}/screenshots`, { image })
      const died = await die(upload)
      await recover(platform, 3 * MINUTE)
      expect(imagesOf(app.id)).toEqual(await knownImages(app.id))
      expect((await upload()).status).toBe(201)
      await recover(platform, 3 * MINUTE)
      expect(imagesOf(app.id)).toHaveLength(1)
      expect(imagesOf(app.id)).toEqual(await knownImages(app.id))
      return died
    })
  })

  it('leaves no image that its app doesn’t refer to when it fetches a logo, even if the address has another then', async () => {
    const outside = await startReceiver()
    try {
      await dieEverywhere(moment, async (die) => {
        const app = await newApp(await newDeveloper(platform), { logo_url: `${outside.url}/logo.png` })
        const serve = (color: [number, number, number]) =>
          outside.answer({ kind: 'answer', headers: { 'content-type': 'image/png' }, body: pngOf(64, color) })
        serve([1, 2, 3])
        // A message of a dead worker comes again and again.
        const died = await die(() => platform.drain().catch(() => undefined))
        serve([4, 5, 6])
        for (let hour = 0; hour < 3; hour++) await recover(platform, HOUR)
        expect(imagesOf(app.id)).toHaveLength(1)
        expect(imagesOf(app.id)).toEqual(await knownImages(app.id))
        expect(await platform.deps.table.get(LogoFetchEntity, { owner: app.id })).toBeUndefined()
        return died
      })
    } finally {
      await outside.close()
    }
  })

  it('leaves no manifest without a version when it publishes a large one, and neither does one that is refused', async () => {
    // It doesn't fit into the version's record.
    const tools = Array.from({ length: 20 }, (_, i) => ({
      name: `tool_${i}`,
      description: 'x'.repeat(1_000),
      input_schema: { type: 'object' },
    }))
    await dieEverywhere(moment, async (die) => {
      const developer = await newDeveloper(platform)
      const app = await newApp(developer)
      const died = await die(() => publish(developer, app, { tools }))
      await publish(developer, app, { tools, version: '2.0.0' })
      expect((await publish(developer, app, { tools, version: '2.0.0' })).body.error.code).toBe('version_exists')
      await sweepLater(2 * DAY)
      const { items } = (await developer.call('GET', `/api/v1/dev/apps/${app.id}/versions`)).body
      expect(items.map(({ manifest }: { manifest: { tools: [] } }) => manifest.tools.length)).toContain(20)
      const objects = [...platform.objects.keys()].filter((key) => key.startsWith(`manifests/${app.id}/`)).sort()
      expect(objects).toEqual(items.map(({ id }: { id: string }) => `manifests/${app.id}/${id}`).sort())
      return died
    })
  })

  it('is followed by a retry with the same key that creates one lasting file', async () => {
    await dieEverywhere(moment, async (die) => {
      const app = await filesOf(platform)
      const key = { 'idempotency-key': randomUUID() }
      const body = { name: 'a.txt', content_type: 'text/plain', content: 'hello' }
      const died = await die(() => app.call('POST', '', body, key))
      platform.clock.advance(HOUR)
      await platform.sweep()
      const { status, body: file } = await app.call('POST', '', body, key)
      expect(status).toBe(201)
      await sweepLater(2 * DAY)
      expect((await app.call('GET')).body.items).toMatchObject([{ id: file.id, status: 'ready' }])
      expect(platform.objects.has(app.objectOf(file.id))).toBe(true)
      expect(await app.used()).toEqual([1, 5])
      expect(await app.due()).toEqual([])
      return died
    })
  })

  it('deletes all of a file or nothing, and returns the quota once', async () => {
    const calls = await dieEverywhere(moment, async (die) => {
      const app = await filesOf(platform)
      const { id } = await app.file()
      let status = 0
      const died = await die(async () => {
        status = (await app.call('DELETE', `/${id}`)).status
      })
      await sweepLater(HOUR)
      const there = (await app.call('GET', `/${id}`)).status === 200
      if (status === 204) expect(there).toBe(false)
      expect(platform.objects.has(app.objectOf(id))).toBe(there)
      expect(await app.used()).toEqual(there ? [1, 5] : [0, 0])
      expect(await app.due()).toEqual([])
      return died
    })
    expect(calls).toBeGreaterThanOrEqual(3)
  })

  it('is followed by another sweep that finishes, and returns the quota once', async () => {
    const calls = await dieEverywhere(moment, async (die) => {
      const app = await filesOf(platform)
      const [pending, wrong] = [await app.file({ size: 5 }), await app.file({ size: 5 })]
      // Can't happen with signed sizes, but would be deleted, too.
      platform.objects.set(app.objectOf(wrong.id), Buffer.from('too long'))
      platform.clock.advance(DAY)
      const died = await die(() => platform.sweep().catch(() => {}))
      await sweepLater(HOUR)
      expect((await app.call('GET')).body.items).toEqual([])
      for (const { id } of [pending, wrong]) expect(platform.objects.has(app.objectOf(id))).toBe(false)
      expect(await app.used()).toEqual([0, 0])
      expect(await app.due()).toEqual([])
      return died
    })
    expect(calls).toBeGreaterThanOrEqual(4)
  })
})
