import { describe, expect, it } from 'vitest'
import { costOf, gbSeconds, total } from '#bench/cost/usage.ts'
import { sequentialRoundTrips } from '#bench/round-trips.ts'
import { median, percentile, spread } from '#bench/statistics.ts'

const call = (start: number, end: number) => ({ start, end })

describe('sequential round trips', () => {
  it('count simultaneous calls once', () => {
    expect(sequentialRoundTrips([call(0, 5), call(0, 3), call(1, 4)])).toBe(1)
  })

  it('count each of several consecutive calls', () => {
    expect(sequentialRoundTrips([call(4, 6), call(0, 2), call(2, 4)])).toBe(3)
  })

  it('count two short consecutive calls next to a long one', () => {
    expect(sequentialRoundTrips([call(0, 10), call(0, 3), call(4, 8)])).toBe(2)
  })

  it('include calls that came after all others', () => {
    expect(sequentialRoundTrips([call(0, 10), call(0, 3), call(11, 12)])).toBe(2)
  })

  it('are zero without calls', () => {
    expect(sequentialRoundTrips([])).toBe(0)
  })
})

describe('statistics', () => {
  it('take the median, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([9, 1, 5, 6])).toBe(5.5)
    expect(median([])).toBeNaN()
  })

  it('take the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, i) => 100 - i)
    expect([0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([50, 95, 100])
    expect(percentile([7], 0.95)).toBe(7)
  })

  it('measure the spread of typical values', () => {
    expect(spread([1, 2, 3, 4, 5, 6, 7, 8])).toBe(2)
  })
})

describe('costs', () => {
  it('bill CPU by the share of a core that comes with the memory, and bill no waiting', () => {
    expect(gbSeconds({ cpuMs: 0, waitMs: 1_000, memoryMb: 512 })).toBe(0.5)
    expect(gbSeconds({ cpuMs: 10, waitMs: 0, memoryMb: 1_769 * 2 })).toBeCloseTo((0.01 * 1_769 * 2) / 1_024)
    expect(gbSeconds({ cpuMs: 1_000, waitMs: 0, memoryMb: 884.5 })).toBeCloseTo((2 * 884.5) / 1_024)
  })

  it('add parts up by their frequency', () => {
    expect(total([{ readUnits: 2, invocations: 1 }, 3], [{ readUnits: 1 }, -1])).toMatchObject({
      readUnits: 5,
      invocations: 3,
      writeUnits: 0,
    })
  })

  it('are quoted per million', () => {
    const usage = total([{ apiRequests: 1, writeUnits: 2, queueRequests: 3, fairRequests: 1, logBytes: 1_000 }, 1e6])
    expect(costOf(usage)).toMatchObject({ gateway: 3.5, dynamodb: 1.25, bus: 0, logs: 0.5 })
    expect(costOf(usage).sqs).toBeCloseTo(1.3)
  })
})
