import { describe, expect, it, vi } from 'vitest'
import { CALL_MIX } from '#bench/cost.ts'
import { subjects } from '#bench/cpu/subjects.ts'
import { nameOf } from '#bench/endpoints/scenario.ts'
import { scenariosOf, WRITTEN } from '#bench/endpoints/scenarios.ts'
import { measureStoreUse, storeUseTables } from '#bench/endpoints.ts'
import { requestFunctions } from '#functions/registry.ts'
import { TOOLS } from '#shared/agents/tools/catalogue.ts'
import { samples } from '#testkit/samples.ts'

const endpoints = Object.values(requestFunctions).flat()
const declared = endpoints.map(({ method, path }) => `${method} ${path}`)
const rows = endpoints.flatMap(scenariosOf).map(nameOf)

describe('the table of store use by request', () => {
  it('has no duplicate names and no undeclared endpoints', () => {
    expect(rows.filter((name, i) => rows.indexOf(name) !== i)).toEqual([])
    expect(WRITTEN.map(({ endpoint }) => endpoint).filter((name) => !declared.includes(name))).toEqual([])
  })

  it('has a row for every tool', () => {
    const called = rows.filter((name) => name.startsWith('POST /api/v1/tools/{name}/invoke'))
    for (const tool of Object.keys(TOOLS)) {
      expect(
        called.some((name) => name.includes(`: ${tool}`)),
        tool,
      ).toBe(true)
    }
  })

  it('has every row that costs and CPU are derived from', () => {
    expect(Object.keys(CALL_MIX).filter((name) => !rows.includes(name))).toEqual([])
    expect(subjects.map(nameOf).filter((name) => !rows.includes(name))).toEqual([])
  })
})

it('a row counts the store use of its request', async () => {
  const use = await measureStoreUse({ only: 'GET /api/v1/manifest' })
  expect(use).toMatchObject({ requests: [{ name: 'GET /api/v1/manifest', group: 'api' }], failures: [] })
  expect(storeUseTables(use)[0]?.rows).toEqual([['GET /api/v1/manifest', '3', '2', '5.0', '1']])
})

it('a task over A2A starts with at most three more round trips than a run', async () => {
  const { requests } = await measureStoreUse({ only: '/message:send' })
  expect(requests.map(({ name }) => name)).toContain('POST /a2a/agents/{id}/message:send')
  // Five for a run with an Idempotency-Key. On a busy machine, calls made at the same time may be counted one after the other.
  for (const { name, consumption } of requests) expect(consumption.roundTrips, name).toBeLessThanOrEqual(5 + 3)
})

it('a request that waits for workers is answered; a refused request is a failure instead of a row', async () => {
  vi.spyOn(samples as Required<typeof samples>, 'developer.apps.read').mockResolvedValue({ ids: ['x'] })
  const { requests, failures } = await measureStoreUse({ only: '/api/v1/dev/apps/{id}' })
  expect(requests.map(({ name }) => name)).toContain('POST /api/v1/dev/apps/{id}/test-run')
  expect(failures).toEqual([expect.stringMatching(/^GET \/api\/v1\/dev\/apps\/\{id\}: .* answered 404/)])
})
