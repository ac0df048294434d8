import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { logBytes } from './cost/logs.ts'
import { costOf, gbSeconds, total, type Usage } from './cost/usage.ts'
import { ASSUMED } from './cost.ts'
import { startLocalRun } from './local-run.ts'
import { PRICES } from './prices.ts'
import { fixed, type Table } from './report/table.ts'
import { percentile } from './statistics.ts'

/** Limit of the time from a change to its data on a page, in the local run. */
const P95_LIMIT_MS = 1_000

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
const costTable = (): Table => ({
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
    `Each tab is the only one of its workspace, the most expensive case, and shows ${CHANGES_PER_HOUR} changes an hour. What a page loads after a change is the same with polls and isn’t counted. Without web ACL, tracing and discounts.`,
  ],
})

const signIn = async (baseUrl: string, body: object): Promise<string> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${baseUrl}/console/session`, { method: 'POST', headers, body: JSON.stringify(body) })
  return ((await response.json()) as { token: string }).token
}

/**
 * Measures the time from the request that changes something to the answer with which a page of somebody else loads it,
 * over its live connection.
 */
export const measureLive = async ({ seconds = 10 }: { seconds?: number } = {}): Promise<number[]> => {
  const { platform, close } = await startLocalRun('live')
  const { baseUrl } = platform
  try {
    const workspace = randomUUID()
    const [reader, writer] = await Promise.all([
      signIn(baseUrl, { user: 'reader', workspace, role: 'owner' }),
      signIn(baseUrl, { user: 'writer', workspace, role: 'member' }),
    ])
    const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}/live`)
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'hello', token: reader }))
    await once(socket, 'message')
    const times: number[] = []
    const until = Date.now() + (seconds + 2) * 1_000
    const measuredFrom = Date.now() + 2_000
    while (Date.now() < until) {
      const title = randomUUID()
      const began = performance.now()
      const pushed = once(socket, 'message')
      const created = fetch(`${baseUrl}/console/tasks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${writer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title, description: '' }),
      })
      await Promise.all([created, pushed])
      const list = await fetch(`${baseUrl}/console/tasks`, { headers: { authorization: `Bearer ${reader}` } })
      if (!(await list.text()).includes(title)) throw new Error('The page didn’t get the change')
      if (Date.now() > measuredFrom) times.push(performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    socket.terminate()
    return times
  } finally {
    await close()
  }
}

/** Builds the tables of the measurements. */
export const liveTables = (times: readonly number[]): Table[] => [
  {
    title: 'From a change to its data on somebody else’s page, in the local run',
    columns: ['changes', 'p50 ms', 'p95 ms', 'max ms', `p95 below ${P95_LIMIT_MS}`],
    rows: [
      [
        String(times.length),
        ...[0.5, 0.95, 1].map((part) => fixed(percentile(times, part), 0)),
        percentile(times, 0.95) < P95_LIMIT_MS ? 'kept' : 'OVER',
      ],
    ],
    notes: [
      'From sending the request that creates a task to the end of the request with which the page, told over its live connection, loads the list of tasks. One change after the other; platform and page share one machine.',
    ],
  },
  costTable(),
]
