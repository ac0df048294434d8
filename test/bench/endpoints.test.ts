import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { CALL_MIX } from '#bench/cost.ts'
import { subjects } from '#bench/cpu/subjects.ts'
import { nameOf } from '#bench/endpoints/scenario.ts'
import { scenariosOf, WRITTEN } from '#bench/endpoints/scenarios.ts'
import { measureStoreUse, storeUseTables } from '#bench/endpoints.ts'
import { requestFunctions } from '#functions/registry.ts'
import { TOOLS } from '#shared/domain/tools/catalogue.ts'
import { samples } from '#test/contract/samples.ts'

const endpoints = Object.values(requestFunctions).flat()
const declared = endpoints.map(({ method, path }) => `${method} ${path}`)
const rows = endpoints.flatMap(scenariosOf).map(nameOf)
const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')

describe('the table of what requests ask of the store', () => {
  it.each(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    'can measure %s',
    (name, endpoint) => {
      const written = WRITTEN.some((scenario) => scenario.endpoint === name)
      expect(written || endpoint.id in samples, 'has neither a scenario nor a sample call').toBe(true)
    },
  )

  it('has no two rows of one name, and none of an endpoint that is not declared', () => {
    expect(rows.filter((name, i) => rows.indexOf(name) !== i)).toEqual([])
    expect(WRITTEN.map(({ endpoint }) => endpoint).filter((name) => !declared.includes(name))).toEqual([])
  })

  it('has a row of every tool', () => {
    const called = rows.filter((name) => name.startsWith('POST /api/v1/tools/{name}/invoke'))
    for (const tool of Object.keys(TOOLS)) {
      expect(
        called.some((name) => name.includes(`: ${tool}`)),
        tool,
      ).toBe(true)
    }
  })

  it('has every row that costs and CPU are taken from', () => {
    expect(Object.keys(CALL_MIX).filter((name) => !rows.includes(name))).toEqual([])
    expect(subjects.map(nameOf).filter((name) => !rows.includes(name))).toEqual([])
  })

  it('is the one on the page: `npm run bench -- endpoints --markdown` writes it anew', () => {
    const shown = new Set(Array.from(page.matchAll(/^\| ([^|]+) \|/gm), ([, cell]) => cell))
    expect(rows.filter((name) => !shown.has(name))).toEqual([])
  })
})

it('a row counts what the request asks of the store', async () => {
  const use = await measureStoreUse({ only: 'GET /api/v1/manifest' })
  expect(use).toMatchObject({ requests: [{ name: 'GET /api/v1/manifest', group: 'api' }], failures: [] })
  expect(storeUseTables(use)[0]?.rows).toEqual([['GET /api/v1/manifest', '4', '2', '5.0', '2']])
})

it('a request that waits for workers is answered, and one that is refused is a failure instead of a row', async () => {
  vi.spyOn(samples as Required<typeof samples>, 'developer.apps.read').mockResolvedValue({ path: '/api/v1/dev/apps/x' })
  const { requests, failures } = await measureStoreUse({ only: '/api/v1/dev/apps/{id}' })
  expect(requests.map(({ name }) => name)).toContain('POST /api/v1/dev/apps/{id}/test-run')
  expect(failures).toEqual([expect.stringMatching(/^GET \/api\/v1\/dev\/apps\/\{id\}: .* answered 404/)])
})
