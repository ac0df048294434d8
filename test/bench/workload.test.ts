import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CALL_MIX, MCP_MIX, type Sources } from '#bench/cost.ts'
import { BATCH, OCCURRENCE, WAITED } from '#bench/endpoints/workers.ts'
import { needsOf, secondOf } from '#bench/workload/load.ts'
import { capacityTable, limitsTable, storedGb, workloadTables } from '#bench/workload.ts'

const consumption = (change: object = {}) => ({
  calls: 4,
  roundTrips: 4,
  readUnits: 4,
  writeUnits: 10,
  dueUnits: 2,
  counterUnits: 1,
  storedBytes: 1_000,
  ...change,
})
const requests = [...Object.keys(CALL_MIX), ...Object.keys(MCP_MIX), 'POST /api/v1/runs'].map((name) => ({
  name,
  group: 'api' as const,
  consumption: consumption({ storedBytes: 0 }),
}))
const counting = 'statistics: run.succeeded'
const workers = [
  BATCH.name,
  counting,
  'dispatch: run.created',
  'dispatch: run.created, one subscription',
  'delivery',
  OCCURRENCE,
  ...['POST /api/v1/runs', 'fanout', counting].map((name) => `${name}${WAITED}`),
].map((name) => ({ name, consumption: consumption() }))
const sources: Sources = {
  store: { requests, workers, traces: { alone: [], waited: [], subscribed: [] }, longRun: [] },
  cpu: { 'GET /api/v1/me': 3_000 },
}
const limits = { throttle: 1_000, shards: 8, dueShards: 16 }

describe('a workload', () => {
  it('scales with the number of events', () => {
    const [one, many] = [secondOf(sources, 1), secondOf(sources, 90)]
    expect(many.writeUnits).toBeCloseTo(90 * one.writeUnits)
    // Two calls and half a run, which begins with one call.
    expect(one.apiRequests).toBeCloseTo(2.5)
    expect(storedGb(sources, 100)).toBeCloseTo(100 * storedGb(sources, 1))
  })

  it('lists when each limit is reached, and docs/scale.md names each of them with its default', () => {
    const { rows } = limitsTable(sources, limits)
    const reached = rows.map(([, , runs]) => Number(String(runs).replaceAll(',', '')))
    expect(reached).toEqual(reached.toSorted((a, b) => a - b))
    const page = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8')
    for (const [name, limit] of rows) expect(page).toContain(`| ${name} | ${limit} |`)
  })

  it('costs less with provisioned capacity while the load is even, and more once it is provisioned for peaks', () => {
    const [row = []] = capacityTable(sources).rows
    const [demand = 0, even = 0, peak = 0] = row.slice(2).map((cell) => Number(String(cell).replaceAll(',', '')))
    // A write unit costs $0.00225 an hour on demand, and $0.00065 provisioned, at 70 % utilization.
    expect(even / demand).toBeCloseTo(0.00065 / 0.7 / 0.00225, 1)
    expect(peak).toBeGreaterThan(demand)
  })

  it('counts a hundred runs in one batch where that many end within the window', () => {
    const [alone, together] = [secondOf(sources, 199), secondOf(sources, 200)]
    // Alone, a run takes the 10 units of its own counting, and with others a hundredth of those of a batch.
    expect(alone.writeUnits / 199 - together.writeUnits / 200).toBeCloseTo((10 - 10 / 100) / 2)
  })

  it('reaches first the limit of which it uses the largest share', () => {
    const needs = needsOf(sources, 500, limits)
    const shares = needs.map(({ needed, quota }) => needed / quota.limit)
    expect(shares).toEqual(shares.toSorted((a, b) => b - a))
    const throttle = needs.find(({ quota }) => quota.raised === 'setting throttle')
    expect(throttle?.needed).toBeCloseTo(1_250)
  })

  it('needs less of a quota that a setting raises', () => {
    const due = (shards: number) =>
      needsOf(sources, 100, { ...limits, dueShards: shards }).find(({ quota }) => quota.name.includes('due'))?.quota
        .limit
    expect([due(8), due(64)]).toEqual([8_000, 64_000])
  })

  it('is reported for each load, with the total of a month', () => {
    const [month] = workloadTables(sources, limits)
    expect(month?.rows.map(([events]) => events)).toEqual(['1.00', '100', '10,000'])
    const throttle = limitsTable(sources, limits).rows.find(([name]) => String(name).includes('throttle'))
    expect(throttle?.slice(3, 6)).toEqual(['0.25 %', '25.0 %', '2,500 %'])
  })
})
