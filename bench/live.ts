import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { startLocalRun } from './local-run.ts'
import { fixed, type Table } from './report/table.ts'
import { percentile } from './statistics.ts'

/** Limit of the time from a change to its data on a page, in the local run. */
const P95_LIMIT_MS = 1_000

const signIn = async (baseUrl: string, body: object): Promise<string> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${baseUrl}/console/session`, { method: 'POST', headers, body: JSON.stringify(body) })
  return ((await response.json()) as { token: string }).token
}

/**
 * Measures the time from the request that changes something to the answer with which a page of someone else loads it,
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
]
