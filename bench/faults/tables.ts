import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { fixed, type Table } from '../report/table.ts'
import { percentile } from '../statistics.ts'
import type { Played } from './run-faults.ts'

const OVERDUE_LIMIT = 2 * MINUTE

const seconds = (ms: number): string => fixed(ms / SECOND, 1)

/** Returns true if the sum is right, nothing disagrees, and nothing was overdue by more than two minutes. */
export const holds = ({ account, due }: Pick<Played, 'account' | 'due'>): boolean =>
  account.discrepancies.length === 0 &&
  account.expected === account.delivered + account.failed + account.skipped &&
  due.maxOverdueMs <= OVERDUE_LIMIT

/** Builds the tables with every number of a run. */
export const faultTables = (played: Played, { seed, retryDelays }: { seed: number; retryDelays: string }): Table[] => {
  const { account, due, tally, repeated, byKind, deadLetters } = played
  const after = played.arrivals.map(({ firstAfter }) => firstAfter)
  const attempts = played.deliveries.reduce((sum, one) => sum + one.attempts, 0)
  const ended = account.delivered + account.failed + account.skipped
  const rows: [string, string | number, string?][] = [
    ['events accepted', account.events],
    ['of them answered with 2xx over HTTP', played.overHttp],
    ['events that the platform emitted by itself', account.own],
    ['deliveries that follow: one for each event and subscription', account.expected],
    ['delivered', account.delivered],
    ['dead-lettered: every attempt failed', account.failed],
    ['dead-lettered: skipped because the subscription was disabled', account.skipped],
    [
      'delivered and dead-lettered together',
      ended,
      ended === account.expected ? 'agrees' : `DIFFERS by ${account.expected - ended}`,
    ],
    ['discrepancies', account.discrepancies.length, account.discrepancies.length === 0 ? 'none' : 'FOUND'],
    [
      'longest overdue at any sample, s',
      seconds(due.maxOverdueMs),
      due.maxOverdueMs <= OVERDUE_LIMIT ? 'below 120' : `OVER: ${due.maxOverdue}`,
    ],
    ['samples of the due index', due.samples],
    ['attempts recorded', attempts],
    ['requests that arrived', account.requests],
    ['of them repeats of accepted requests', account.repeated],
    ['from the event to its first request, p50, s', seconds(percentile(after, 0.5))],
    ['the same, p95, s', seconds(percentile(after, 0.95))],
    ['the same, max, s', seconds(percentile(after, 1))],
    ['subscriptions enabled again after five failures', played.enabled],
    ['until all was accepted, s', fixed(played.seconds.told, 0)],
    ['until the faults ended, s', fixed(played.seconds.faults, 0)],
    ['until nothing was due any more, s', fixed(played.seconds.settled, 0)],
  ]
  return [
    {
      title: 'Accounts',
      columns: ['what', 'number', ''],
      rows: rows.map(([what, number, verdict = '']) => [what, String(number), verdict]),
      notes: [
        `Seed ${seed}; retry delays ${retryDelays} s (\`webhookRetryDelaysSeconds\`), so ${retryDelays.split(',').length} attempts. Events were made in transactions of 20 outbox records, as the platform’s own changes write them, with a table client without faults, and also by every integration once a second through \`emit_event\` over HTTP, with an Idempotency-Key, again until it was answered. Accepted is what was committed or answered with 2xx.`,
        'Overdue: age of the earliest time in the due index. Here and for the first requests, time skipped by a jump of the clocks doesn’t count, and repeated time does. The faults end when all events are accepted and nothing waits for a worker.',
      ],
    },
    {
      title: 'Discrepancies',
      document: 'results',
      columns: ['what', 'times', 'the first'],
      rows: account.discrepancies.map(({ what, count, example }) => [what, String(count), example]),
      notes: [
        'Checked for deliveries that are lost, unfinished, recorded twice, of events that were never accepted, or marked as delivered but never accepted by the receiver. Also checked for events that are missing, duplicated or out of order, both in polls during the run and in the feed afterwards.',
      ],
    },
    {
      title: 'Receivers',
      document: 'results',
      columns: ['kind', 'delivered', 'failed', 'skipped', 'requests', 'last error of one that failed'],
      rows: byKind.map(({ kind, delivered, failed, skipped, requests, error }) => [
        kind.name,
        ...[delivered, failed, skipped, requests].map(String),
        error,
      ]),
      notes: [
        'Those called `always-…` do it to every request, and so does the expired certificate; the gzip bomb (64 MB out of 64 KB) comes with a 200, which counts; all others do it to the first request of each event. What breaks off had begun with a 200, which counts, too. “well” has one more subscription, to everything of one installation.',
      ],
    },
    {
      title: 'Faults',
      document: 'results',
      columns: ['what', 'times'],
      rows: tally.map(([what, times]) => [what, String(times)]),
    },
    {
      title: 'Requests that clients repeated',
      document: 'results',
      columns: ['answer', 'times'],
      rows: repeated.map(([answer, times]) => [answer, String(times)]),
    },
    {
      title: 'Dead-letter queues',
      document: 'results',
      columns: ['queue', 'messages', 'the first'],
      rows: deadLetters.map(({ queue, messages, example }) => [queue, String(messages), example]),
      notes: [
        'These messages aren’t lost work: the record is the truth, and the sweeper wakes a worker for it again. They are for a person to investigate.',
      ],
    },
  ]
}
