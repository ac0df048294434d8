import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { portalRights } from '#openapi/portal-rights.ts'

const SCREENS = 'web/developers/client/screens'
const exceptions = portalRights()
const FREE = ['POST /api/v1/dev/manifest/validate']

const screens = readdirSync(SCREENS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.tsx'))
  .map((name) => ({ name, source: readFileSync(path.join(SCREENS, name), 'utf8') }))

/** Requests of a screen that a viewer may not send, by the calls in its source. */
const refusedIn = (source: string): string[] => {
  const calls = [...source.matchAll(/\b(?:api|client)\.(GET|POST|PUT|PATCH|DELETE)\(\s*'([^']+)'/g)].map(
    ([, method, to]) => `${method} ${to}`,
  )
  const opens = /\bopenSandbox\(/.test(source) ? ['POST /api/v1/dev/sandbox/session'] : []
  const isRefused = (action: string): boolean =>
    (exceptions[action] ?? (action.startsWith('GET ') ? 'viewer' : 'developer')) !== 'viewer' && !FREE.includes(action)
  return [...new Set([...calls, ...opens])].filter(isRefused)
}

it('finds the requests of the portal that viewers may not send', () => {
  expect(screens.flatMap(({ source }) => refusedIn(source)).length).toBeGreaterThan(25)
})

it.each(screens)(
  '$name of the developer portal asks for the role of each request that viewers may not send',
  ({ source }) => {
    const asked = [...source.matchAll(/\b(?:may|refusalOf)\('([^']+)'\)/g)].map(([, action]) => action)
    expect(refusedIn(source).filter((action) => !asked.includes(action))).toEqual([])
  },
)
