import { dispatch } from './isolation/dispatch.ts'
import { rateLimit } from './isolation/rate-limit.ts'
import type { Measured, Round, Scenario } from './isolation/scenario.ts'
import { waiting } from './isolation/waiting.ts'
import { webhooks } from './isolation/webhooks.ts'
import { startLocalRun } from './local-run.ts'
import { fixed, type Table } from './report/table.ts'
import { median, percentile } from './statistics.ts'

/** Limit of the others' p99 with the trouble, relative to that without it. */
const RATIO_LIMIT = 1.5

/** Effect of one kind of trouble on one activity of the others. */
export interface Isolation {
  trouble: string
  what: string
  limited: boolean
  /** Milliseconds, one list per round. */
  calm: number[][]
  beside: number[][]
}

export interface IsolationOptions {
  /** Pairs of a round without and one with the trouble. */
  rounds?: number
  /** Measured seconds of each round. */
  seconds?: number
  /** Measures only troubles whose name contains this. */
  only?: string
}

/** Measures every trouble in the local run, alternating rounds without and with it. */
export const measureIsolation = async ({ rounds = 3, seconds = 8, only = '' }: IsolationOptions = {}) => {
  // Deliveries that timed out in one round are repeated and answered before the next round begins.
  const run = await startLocalRun('isolation', { WEBHOOK_RETRY_DELAYS_SECONDS: '2,2,2,2,2,2' })
  try {
    const measured: Isolation[] = []
    for (const scenario of [webhooks, dispatch, waiting, rateLimit].filter(({ trouble }) => trouble.includes(only))) {
      measured.push(...(await takeTurns(scenario, await scenario.prepare(run), rounds, seconds)))
    }
    return measured
  } finally {
    await run.close()
  }
}

const takeTurns = async (
  { trouble, limited }: Scenario,
  round: Round,
  rounds: number,
  seconds: number,
): Promise<Isolation[]> => {
  // Excludes modules that are loaded at their first use.
  await round(false, 1)
  const [calm, beside]: [Measured[], Measured[]] = [[], []]
  for (let i = 0; i < rounds; i++) {
    calm.push(await round(false, seconds))
    beside.push(await round(true, seconds))
  }
  const of = (all: Measured[], what: string): number[][] => all.map((one) => one[what] ?? [])
  return Object.keys(calm[0] ?? {}).map((what) => ({
    trouble,
    what,
    limited: limited.includes(what),
    calm: of(calm, what),
    beside: of(beside, what),
  }))
}

const medianOf = (rounds: readonly number[][], share: number): number =>
  median(rounds.map((values) => percentile(values, share)))

/** Returns the median of the rounds' p99 with the trouble, divided by that without it. */
export const ratioOf = ({ calm, beside }: Pick<Isolation, 'calm' | 'beside'>): number =>
  medianOf(beside, 0.99) / medianOf(calm, 0.99)

/** Returns true if everything with a limit stays within it. Missing measurements don't. */
export const isKept = (measured: readonly Isolation[]): boolean =>
  measured.every((one) => !one.limited || ratioOf(one) <= RATIO_LIMIT)

/** Builds the table of the measurements. */
export const isolationTables = (measured: readonly Isolation[]): Table[] => [
  {
    title: 'Effect of one tenant’s trouble on the others, in the local run',
    columns: [
      'trouble',
      'of the others',
      'each round',
      'p50 ms',
      'with it',
      'p99 ms',
      'with it',
      'ratio',
      `p99 at most ${RATIO_LIMIT} ×`,
    ],
    rows: measured.map((one) => [
      one.trouble,
      one.what,
      fixed(median(one.calm.map(({ length }) => length)), 0),
      fixed(medianOf(one.calm, 0.5), 0),
      fixed(medianOf(one.beside, 0.5), 0),
      fixed(medianOf(one.calm, 0.99), 0),
      fixed(medianOf(one.beside, 0.99), 0),
      fixed(ratioOf(one), 2),
      ratioOf(one) <= RATIO_LIMIT ? 'ok' : 'not kept',
    ]),
    notes: [
      `Rounds without and with the trouble alternate, ${measured[0]?.calm.length ?? 0} of each. Values are medians of the rounds. Without the trouble, the same requests go to the same receiver or agent, which answers at once, and the tenant that calls too often stays at half its limit. Webhooks and dispatch: from created_at of the event or the run to the request’s arrival. API calls: GET /api/v1/me, console: GET /console/me, OAuth: POST /oauth/introspect, and waited-for runs: POST /api/v1/runs?wait=30 with an agent that answers at once, from the request to its answer. The local run enforces no reserved executions.`,
    ],
  },
]
