import { describe, expect, it } from 'vitest'
import { costOf, gbSeconds, total } from '#bench/cost/usage.ts'
import { sequentialRoundTrips } from '#bench/round-trips.ts'
import { median, percentile, spread } from '#bench/statistics.ts'

const call = (start: number, end: number) => ({ start, end })

describe('sequential round trips', () => {
  it('count calls at the same time once', () => {
    expect(sequentialRoundTrips([call(0, 5), call(0, 3), call(1, 4)])).toBe(1)
  })

  it('count calls one after the other each', () => {
    expect(sequentialRoundTrips([call(4, 6), call(0, 2), call(2, 4)])).toBe(3)
  })

  it('see two short calls in a row beside a long one', () => {
    expect(sequentialRoundTrips([call(0, 10), call(0, 3), call(4, 8)])).toBe(2)
  })

  it('see what came after all of them', () => {
    expect(sequentialRoundTrips([call(0, 10), call(0, 3), call(11, 12)])).toBe(2)
  })

  it('are none without calls', () => {
    expect(sequentialRoundTrips([])).toBe(0)
  })
})

describe('statistics', () => {
  it('take the middle, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([9, 1, 5, 6])).toBe(5.5)
    expect(median([])).toBeNaN()
  })

  it('take the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, i) => 100 - i)
    expect([0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([50, 95, 100])
    expect(percentile([7], 0.95)).toBe(7)
  })

  it('know how far typical values lie apart', () => {
    expect(spread([1, 2, 3, 4, 5, 6, 7, 8])).toBe(2)
  })
})

describe('costs', () => {
  it('give the CPU the share of a core that comes with the memory, and waiting none', () => {
    expect(gbSeconds({ cpuMs: 0, waitMs: 1_000, memoryMb: 512 })).toBe(0.5)
    expect(gbSeconds({ cpuMs: 10, waitMs: 0, memoryMb: 1_769 * 2 })).toBeCloseTo((0.01 * 1_769 * 2) / 1_024)
    expect(gbSeconds({ cpuMs: 1_000, waitMs: 0, memoryMb: 884.5 })).toBeCloseTo((2 * 884.5) / 1_024)
  })

  it('add parts up by how often they come', () => {
    expect(total([{ readUnits: 2, invocations: 1 }, 3], [{ readUnits: 1 }, -1])).toMatchObject({
      readUnits: 5,
      invocations: 3,
      writeUnits: 0,
    })
  })

  it('are the prices of a million for a million', () => {
    const usage = total([{ apiRequests: 1, writeUnits: 2, queueRequests: 3, fairRequests: 1, logBytes: 1_000 }, 1e6])
    expect(costOf(usage)).toMatchObject({ gateway: 3.5, dynamodb: 1.25, bus: 0, logs: 0.5 })
    expect(costOf(usage).sqs).toBeCloseTo(1.3)
  })
})
