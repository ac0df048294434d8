import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { modulesOf, REQUEST_UNITS, unitNames, WORKER_UNITS } from '#functions/units.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'

/** Finds the folder whose resources serve a path. The first matching prefix counts. */
const GROUPS: [prefix: string, group: string][] = [
  ['/api/v1/dev/', 'developer'],
  ['/api/v1/', 'api'],
  ['/mcp', 'mcp'],
  ['/a2a', 'a2a'],
  ['/oauth/', 'oauth'],
  ['/connect/', 'connect'],
  ['/console/', 'console'],
  ['/admin/', 'admin'],
  ['/.well-known/jwks.json', 'oauth'],
  ['/.well-known/ai-catalog.json', 'mcp'],
  ['/.well-known/ard.json', 'mcp'],
  ['/app', 'pages'],
  ['/staff', 'pages'],
  ['/developers', 'pages'],
  ['/', 'docs'],
]

const folder = new URL('../../functions/', import.meta.url)
const files = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) =>
    readdirSync(new URL(`${name}/`, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${name}/${entry.name.replace(/\.ts$/, '')}`),
  )
const load = async (path: string): Promise<{ endpoints: Endpoint[] }> => {
  const [group, resource] = path.split('/')
  return import(`../../functions/${group}/${resource}.ts`)
}

describe('units', () => {
  it('are few: at most 13 for requests, and at most 10 for workers besides those that exist to be alone', () => {
    // The only writer of the audit, the only one that reads images of strangers, and the one that open pages wait for.
    const isolated = ['audit', 'logos', 'live']
    expect(Object.keys(REQUEST_UNITS).length).toBeLessThanOrEqual(13)
    expect(Object.keys(WORKER_UNITS).filter((name) => !isolated.includes(name)).length).toBeLessThanOrEqual(10)
  })

  it('contain every resource and every worker exactly once', () => {
    expect(unitNames().flatMap(modulesOf).sort()).toEqual(files.sort())
  })

  it('state why they are functions of their own', () => {
    for (const { why } of Object.values({ ...REQUEST_UNITS, ...WORKER_UNITS })) expect(why).toMatch(/^[A-Z].*\.$/)
  })

  it('contain at least one module', () => {
    for (const served of Object.values({ ...requestFunctions, ...workerFunctions }))
      expect(served.length).toBeGreaterThan(0)
  })
})

describe('resources', () => {
  it.each(files.filter((file) => !file.startsWith('workers/')))('%s serves paths of its group', async (file) => {
    const { endpoints } = await load(file)
    for (const { path } of endpoints)
      expect(GROUPS.find(([prefix]) => path.startsWith(prefix))?.[1], path).toBe(file.split('/')[0])
  })
})
