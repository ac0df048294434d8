import { atRest } from './isolation/scenario.ts'
import { type LocalRun, startLocalRun } from './local-run.ts'
import { fixed, type Table } from './report/table.ts'
import { percentile } from './statistics.ts'
import { cpuTime } from './throughput/cpu-time.ts'
import { startLoadProcess } from './throughput/process.ts'
import { byArea, together } from './throughput/profile.ts'
import { bundleSources } from './throughput/source-maps.ts'
import { SUBJECTS, type SubjectName } from './throughput/subjects.ts'
import { openThreads } from './throughput/threads.ts'

const WARM_UP_SECONDS = 3
/** Minimum share of any subject's time for which an area gets its own row. */
const SHOWN_SHARE = 0.02

/** Measurements of one subject. */
export interface Throughput {
  subject: string
  perSecond: number
  /** Milliseconds per unit. */
  times: number[]
  /** Seconds of CPU per unit, including everything that it causes later. */
  platformCpu: number
  storeCpu: number
  /** Milliseconds of CPU, by thread. */
  threads: ReadonlyMap<string, number>
  /** Milliseconds of CPU of the busy threads, by part of the program, measured by a profiler. */
  areas: ReadonlyMap<string, number>
}

export interface ThroughputOptions {
  /** Seconds of load per subject. The profile takes half as long again. */
  seconds?: number
  /** Measures only subjects whose name contains this. */
  only?: string
  /** Interval in ms at which clients read their runs, instead of waiting in the request that starts them. */
  poll?: number
}

/** Measures each subject separately, in closed loops over HTTP against the local run. */
export const measureThroughput = async ({
  seconds = 10,
  only = '',
  poll,
}: ThroughputOptions = {}): Promise<Throughput[]> => {
  const run = await startLocalRun('throughput')
  try {
    const measured: Throughput[] = []
    for (const subject of Object.keys(SUBJECTS).filter((name) => name.includes(only)) as SubjectName[]) {
      measured.push(await measureSubject(run, subject, seconds, poll))
    }
    return measured
  } finally {
    await run.close()
  }
}

const measureSubject = async (
  run: LocalRun,
  subject: SubjectName,
  seconds: number,
  pollMs: number | undefined,
): Promise<Throughput> => {
  const client = startLoadProcess()
  const threads = await openThreads()
  const apply = async (duration: number) => {
    const loaded = await client.load(duration)
    await atRest(run)
    return loaded
  }
  try {
    await client.prepare(run.platform.baseUrl, subject, pollMs)
    await apply(WARM_UP_SECONDS)
    const before = { ...cpuTime(run.dataDir), threads: await threads.cpu() }
    const loaded = await apply(seconds)
    const after = { ...cpuTime(run.dataDir), threads: await threads.cpu() }
    const spent = new Map([...after.threads].map(([name, ms]) => [name, ms - (before.threads.get(name) ?? 0)]))
    const profiles = await threads.profileDuring(shownOf([sharesOf(spent)]), () => apply(seconds / 2))
    const sources = bundleSources()
    const { times } = loaded
    return {
      subject,
      perSecond: times.length / loaded.seconds,
      times,
      platformCpu: (after.platform - before.platform) / times.length,
      storeCpu: (after.store - before.store) / times.length,
      threads: spent,
      areas: together(profiles.map(({ profile, cpuMs }) => byArea(profile, cpuMs, sources))),
    }
  } finally {
    await threads.close()
    await client.stop()
  }
}

/** Returns each part's share of the total. */
const sharesOf = (parts: ReadonlyMap<string, number>): Map<string, number> => {
  const total = sum(parts.values())
  return new Map([...parts].map(([name, ms]) => [name, ms / total]))
}

/** Returns the parts that are large enough in any subject, largest first. */
const shownOf = (subjects: readonly ReadonlyMap<string, number>[]): string[] =>
  [...together(subjects)]
    .sort((a, b) => b[1] - a[1])
    .flatMap(([name]) => (subjects.some((parts) => (parts.get(name) ?? 0) >= SHOWN_SHARE) ? [name] : []))

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)

/** Builds the tables of the measurements. */
export const throughputTables = (measured: readonly Throughput[]): Table[] => [
  {
    title: 'Throughput of the local run',
    columns: ['what', 'a second', 'p50 ms', 'p95 ms', 'p99 ms', 'platform: CPU s of 1,000', 'store: CPU s of 1,000'],
    rows: measured.map(({ subject, perSecond, times, platformCpu, storeCpu }) => [
      subject,
      fixed(perSecond, 0),
      ...[0.5, 0.95, 0.99].map((share) => fixed(percentile(times, share), 0)),
      fixed(platformCpu * 1_000, 2),
      fixed(storeCpu * 1_000, 2),
    ]),
    notes: [
      'Closed loops over HTTP from another process, which also has the agents and the receivers and shares the machine’s cores. Reads and writes: from the request to its answer. Runs: from created_at to finished_at; the request that starts a run waits for its end, unless `--poll` says how often clients read it. Deliveries: from the event’s created_at to the request’s arrival. CPU: user and system, with all that follows until the queues are empty.',
    ],
  },
  shares(
    'Where the platform’s time goes: threads',
    'thread',
    'Shares of the threads’ CPU. Each function has a thread. `main` is the gateway, the queues and the bus of the local run.',
    measured,
    ({ threads }) => threads,
  ),
  shares(
    'Where the platform’s time goes: parts of the program',
    'part',
    'Shares of the CPU of the threads above, by a profiler that samples each of them 1,000 times a second. Work of the engine, such as JSON.parse, counts for the part that calls it.',
    measured,
    ({ areas }) => areas,
  ),
]

/** Builds a table of each part's share of the total. Small parts share a row. */
export const shares = (
  title: string,
  column: string,
  note: string,
  measured: readonly Throughput[],
  of: (one: Throughput) => ReadonlyMap<string, number>,
): Table => {
  const parts = measured.map((one) => sharesOf(of(one)))
  const shown = shownOf(parts)
  const percent = (share: number): string => `${fixed(share * 100, 0)} %`
  return {
    title,
    document: 'results',
    columns: [column, ...measured.map(({ subject }) => subject.replace(/ \(.*| *,.*/, ''))],
    rows: [
      ...shown.map((name) => [name, ...parts.map((part) => percent(part.get(name) ?? 0))]),
      ['all else', ...parts.map((part) => percent(1 - sum(shown.map((name) => part.get(name) ?? 0))))],
    ],
    notes: [note],
  }
}
