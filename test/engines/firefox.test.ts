import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SUPERADMIN } from '#test/browser/admin/harness.ts'
import { browserStage } from '#test/browser/console/harness.ts'
import { furnish, type Sights, type Stop, stopsOf } from '#test/browser/tour.ts'
import { type FirefoxWindow, startFirefox } from '#testkit/firefox.ts'
import { succeeded } from '#testkit/platform.ts'

const stage = browserStage()

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const ADDRESSES = { console: 'app', staff: 'staff', portal: 'developers' } as const

let firefox: FirefoxWindow
let sights: Sights | undefined
beforeAll(async () => {
  firefox = await startFirefox(process.env.FIREFOX ?? 'firefox')
})
afterAll(() => firefox?.close())

/** Signs in to a page of the platform by what its own sign-in keeps in the tab. */
const signIn = async (surface: Stop['surface'], { who, developer }: Sights): Promise<void> => {
  const until = Date.now() + 3_600_000
  const { platform, url } = stage
  const kept = async (): Promise<[name: string, value: object]> => {
    if (surface === 'console') {
      return [
        'console-session',
        { token: who.token, until, name: who.user.name, workspace: who.workspace.id, link: '' },
      ]
    }
    if (surface === 'staff') {
      const { token } = await succeeded(platform.call('POST', '/admin/auth/login', { body: SUPERADMIN }))
      return ['admin-session', { token, until, email: SUPERADMIN.email }]
    }
    const { session_key } = await succeeded(
      platform.call('POST', '/api/v1/dev/session', { body: { api_key: developer.key } }),
    )
    return ['developer-session', { token: session_key, until }]
  }
  const [name, value] = await kept()
  await firefox.goto(`${url}/${ADDRESSES[surface]}`)
  await firefox.evaluate(`sessionStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(JSON.stringify(value))})`)
}

const isShown = `Boolean(document.querySelector('main h1')) && !document.querySelector('main .skeleton')`
const isSignedIn = `Boolean(document.querySelector('nav'))`
const overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
const violations = `axe.run({ resultTypes: ['violations'] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map((node) => node.html).join()))`

it.each(['console', 'staff', 'portal'] satisfies Stop['surface'][])(
  'every screen of the %s works in Firefox: it shows its data, throws nothing, fits a phone, and has no axe violation',
  async (surface) => {
    sights ??= await furnish(stage)
    await signIn(surface, sights)
    for (const { name, place } of await stopsOf(surface, sights)) {
      await firefox.goto(`${stage.url}/${ADDRESSES[surface]}?${name}#${place}`)
      // The gallery shows what screens show before their data is there.
      const shown = place === '/gallery' ? `Boolean(document.querySelector('main h1'))` : isShown
      await expect.poll(() => firefox.evaluate(shown), { message: name, timeout: 30_000 }).toBe(true)
      expect(await firefox.evaluate(isSignedIn), name).toBe(true)
      for (const width of [1_280, 390]) {
        await firefox.resize(width, 844)
        expect.soft(await firefox.evaluate(overflow), `${name} at ${width}`).toBeLessThanOrEqual(0)
      }
      await firefox.evaluate(`(() => { ${await axe} })()`)
      expect.soft(await firefox.evaluate(violations), name).toEqual([])
      expect.soft(firefox.errors.splice(0), name).toEqual([])
    }
  },
)
