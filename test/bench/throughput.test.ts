import type { Profiler } from 'node:inspector'
import { describe, expect, it } from 'vitest'
import { ticksIn } from '#bench/throughput/cpu-time.ts'
import { areaOf, byArea, selfTimes, together } from '#bench/throughput/profile.ts'
import { shares, type Throughput } from '#bench/throughput.ts'

const frame = (functionName: string, url = '') => ({ functionName, url, line: 0, column: 7 })

/** A profile of nodes with ids from 1, and one sample per millisecond. */
const profileOf = (names: [string, string][], samples: number[]): Profiler.Profile => ({
  nodes: names.map(([functionName, url], i) => ({
    id: i + 1,
    callFrame: { functionName, url, scriptId: '1', lineNumber: 0, columnNumber: 7 },
  })),
  startTime: 0,
  endTime: samples.length * 1_000,
  samples,
  timeDeltas: samples.map(() => 1_000),
})

describe('a profile', () => {
  const profile = profileOf(
    [
      ['(idle)', ''],
      ['handle', 'file:///platform/dist/functions/api/index.cjs'],
      ['(garbage collector)', ''],
      ['(program)', ''],
    ],
    [1, 1, 2, 3, 2, 4, 4, 1],
  )

  it('counts the samples of each function, and none while idle', () => {
    expect(selfTimes(profile).map(({ frame: { functionName }, ms }) => [functionName, ms])).toEqual([
      ['handle', 2],
      ['(garbage collector)', 1],
    ])
  })

  it('is summed up by the area of the program that each function belongs to', () => {
    const areas = byArea(profile, 3, () => '../../shared/table/table.ts')
    expect(areas).toEqual(
      new Map([
        ['ours: shared/table', 2],
        ['garbage collection', 1],
      ]),
    )
    expect(together([areas, areas, new Map([['zod', 1]])]).get('ours: shared/table')).toBe(4)
  })

  it('reports CPU outside of scripts as native code, within the total CPU', () => {
    const areasOf = (cpuMs: number) => [...byArea(profile, cpuMs, () => undefined).values()]
    expect(areasOf(4.5)).toEqual([2, 1, 1.5])
    expect(areasOf(1.5)).toEqual([1, 0.5])
  })

  it.each([
    ['../../node_modules/zod/v4/core/parse.js', 'zod'],
    ['../../node_modules/@middy/core/index.js', '@middy/core'],
    ['../../node_modules/@smithy/core/dist-es/index.js', 'AWS SDK'],
    ['../../node_modules/@aws-sdk/lib-dynamodb/dist-es/index.js', 'AWS SDK'],
    ['../../shared/work/runs/start.ts', 'ours: shared/work'],
    ['../../functions/api/runs.ts', 'ours: functions'],
    ['/platform/local/gateway.ts', 'ours: local/gateway'],
    ['/platform/local/aws/sqs/queue.ts', 'ours: local/aws'],
  ])('%s belongs to %s', (source, area) => {
    expect(areaOf(frame('f', 'file:///bundle.cjs'), () => source)).toBe(area)
  })

  it('names Node’s own parts without a source', () => {
    const area = (functionName: string, url = '') => areaOf(frame(functionName, url), () => undefined)
    expect(area('request', 'node:_http_client')).toBe('node: HTTP and streams')
    expect(area('Hash', 'node:internal/crypto/hash')).toBe('node: crypto')
    expect(area('processTimers', 'node:internal/timers')).toBe('node: the rest')
    expect(area('writev')).toBe('native code and system calls')
  })
})

it('the shares of each subject refer to its own time, and small ones are grouped', () => {
  const measured = (subject: string, areas: Record<string, number>): Throughput => ({
    subject,
    perSecond: 1,
    times: [],
    platformCpu: 1,
    storeCpu: 1,
    threads: new Map(),
    areas: new Map(Object.entries(areas)),
  })
  const both = [measured('reads (GET)', { sdk: 50, ours: 49, tiny: 1 }), measured('runs, whole', { sdk: 10, ours: 30 })]
  const table = shares('Shares', 'part', 'Of all.', both, ({ areas }) => areas)
  expect(table.columns).toEqual(['part', 'reads', 'runs'])
  expect(table.rows).toEqual([
    ['ours', '49 %', '75 %'],
    ['sdk', '50 %', '25 %'],
    ['all else', '1 %', '0 %'],
  ])
})

it('reads the CPU of a process with any characters in its name', () => {
  expect(ticksIn('42 (a (strange) name) S 1 2 3 4 5 6 7 8 9 10 250 31 0 0 20 0')).toBe(281)
})
