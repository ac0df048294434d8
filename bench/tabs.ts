import { logBytes } from './cost/logs.ts'
import { costOf, gbSeconds, total, type Usage } from './cost/usage.ts'
import { ASSUMED } from './cost.ts'
import { PRICES } from './prices.ts'
import type { Table } from './report/table.ts'

const HOURS = 730
const TABS = 10_000

/** Assumed changes that a page shows in an hour. */
const CHANGES_PER_HOUR = 20

/** Assumed CPU of a poll, a heartbeat and a push, in ms on a whole core. */
const CPU_MS = 3

const execution = (roundTrips: number, memoryMb: number): number =>
  gbSeconds({ cpuMs: CPU_MS, waitMs: roundTrips * ASSUMED.storeRoundTripMs, memoryMb })

const answered = { invocations: 1, logBytes: logBytes.ofRequest }

/** A poll: the session’s four records, its rate limit, and three records of updates. */
const poll: Partial<Usage> = {
  ...answered,
  apiRequests: 1,
  gbSeconds: execution(2, 1_024),
  readUnits: 7,
  writeUnits: 1,
  bytesOut: 500,
}

/** A heartbeat: its rate limit, the session, both records of the connection, and the updates. */
const heartbeat: Partial<Usage> = {
  ...answered,
  gbSeconds: execution(5, 512),
  readUnits: 9,
  writeUnits: 1,
  bytesOut: 300,
}

/** A push to the only page of a workspace: its connection, the person’s access and the updates, woken by a message. */
const push: Partial<Usage> = {
  ...answered,
  gbSeconds: execution(3, 512),
  // One for the question whether a page is open, in the fan-out.
  readUnits: 9,
  queueRequests: 3,
  fairRequests: 3,
  bytesOut: 300,
}

const dollars = (usage: Usage): number => Object.values(costOf(usage)).reduce((sum, each) => sum + each, 0)

/** Computes the cost of all tabs in a month. `everySeconds` is the interval of polls, or undefined for live connections. */
const monthOf = (hours: number, everySeconds: number | undefined) => {
  const tabHours = TABS * hours
  if (everySeconds !== undefined)
    return { requests: (tabHours * 3_600) / everySeconds, socket: 0, heartbeats: 0, pushes: 0 }
  return {
    requests: 0,
    socket: tabHours * 60,
    // Every 8 minutes at most, 7.6 on average.
    heartbeats: (tabHours * 60) / 7.6,
    pushes: tabHours * CHANGES_PER_HOUR,
  }
}

/** Computes the cost of the month in dollars. */
const liveCost = (hours: number, everySeconds: number | undefined): number => {
  const { requests, socket, heartbeats, pushes } = monthOf(hours, everySeconds)
  const { million } = PRICES
  const messages = 2 * heartbeats + pushes
  return (
    dollars(total([poll, requests], [heartbeat, heartbeats], [push, pushes])) +
    (socket / 1e6) * million.webSocketMinutes +
    (messages / 1e6) * million.webSocketMessages
  )
}

/** Builds the table of costs. */
export const tabTables = (): Table[] => [
  {
    title: `${new Intl.NumberFormat('en').format(TABS)} open tabs in a month, in US dollars (${PRICES.region}, list prices of ${PRICES.date})`,
    columns: ['tabs are open', 'polls every 30 s', 'live connections'],
    rows: [
      ['all day', HOURS],
      ['8 hours on 22 days', 176],
    ].map(([name, hours]) => [
      String(name),
      ...[30, undefined].map((seconds) =>
        new Intl.NumberFormat('en').format(Math.round(liveCost(Number(hours), seconds))),
      ),
    ]),
    notes: [
      `Each tab is the only one of its workspace, the most expensive case, and shows ${CHANGES_PER_HOUR} changes an hour. What a page loads after a change is the same with polls and isn’t counted. Without tracing and discounts.`,
    ],
  },
]
