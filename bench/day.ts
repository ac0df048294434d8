import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { launchChromium, unpackChromium } from '#testkit/chromium.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'
import { type Client, clientOf, createTenant, type Tenant } from './latency/setup.ts'
import { DONE } from './local-run.ts'
import { memoryOf, npmStart, openFilesOf } from './npm-start.ts'
import { fixed, type Table } from './report/table.ts'
import { percentile } from './statistics.ts'

const TENANTS = 10
const STREAMS = 20
const PAGES = 5
const SLICES = 12
const STARTS = 10
/** Interval at which somebody changes what the pages show. */
const CHANGE_MS = 5_000

/** Memory, open files and data of the local run at one time. */
interface Held {
  memory: number
  openFiles: number
  /** Size of the data folder in MB. */
  size: number
}

/** `npm start` over a long day, and the same folder started again and again. */
export interface Day {
  seconds: number
  /** Runs, the 50th and 95th percentile of their milliseconds, and what is held at the end, for each part of the time. */
  slices: ({ runs: number; p50: number; p95: number } & Held)[]
  /** Runs that failed. */
  failed: number
  streamsOpened: number
  /** Seconds until each start is ready, and what is held then. */
  starts: ({ ready: number } & Held)[]
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => {
      // A file of the store may be gone by now.
      return sum + (statSync(path.join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0) / 1_048_576
    }, 0)

const held = (pid: number, folder: string): Held => ({
  memory: memoryOf(pid),
  openFiles: openFilesOf(pid),
  size: sizeOf(folder),
})

/** Opens pages of the console in a browser, and changes what they show until `over`. */
const openPages = async (url: string, call: Client, over: AbortSignal): Promise<void> => {
  await unpackChromium()
  const browser = await launchChromium()
  try {
    const session = await call('POST', '/console/session', {}, { user: 'Ada', workspace: 'Day', role: 'owner' })
    const kept = {
      token: session.token,
      until: Date.now() + 3_600_000,
      name: session.user.name,
      workspace: session.workspace.id,
      link: '',
    }
    const context = await browser.newContext()
    await context.addInitScript(
      ([key, text]) => sessionStorage.setItem(key as string, text as string),
      ['console-session', JSON.stringify(kept)],
    )
    for (const place of ['/', '/tasks', '/inbox', '/runs', '/agents'].slice(0, PAGES))
      await (await context.newPage()).goto(`${url}/app#${place}`)
    const headers = { authorization: `Bearer ${session.token}` }
    for (let n = 0; !over.aborted; n++) {
      if (n % 20 === 0) await call('POST', '/console/tasks', headers, { title: `Task ${n}`, description: '' })
      else await call('GET', '/console/tasks', headers)
      await pause(CHANGE_MS, undefined, { signal: over }).catch(() => {})
    }
  } finally {
    await browser.close()
  }
}

/** Follows runs that don't end until `over`. @returns how many streams were opened */
const follow = async (url: string, call: Client, { headers }: Tenant, over: AbortSignal): Promise<number> => {
  let opened = 0
  while (!over.aborted) {
    const run = await call('POST', '/api/v1/runs', headers, { input: {}, trigger: 'bench' })
    for (let active = true; active && !over.aborted; ) {
      opened++
      try {
        const stream = await fetch(`${url}/api/v1/runs/${run.id}/stream`, { headers, signal: over })
        await stream.text()
      } catch {
        // The end of the day, or of a stream that was the oldest of its caller.
      }
      if (over.aborted) break
      active = ['queued', 'running'].includes((await call('GET', `/api/v1/runs/${run.id}`, headers)).status)
    }
  }
  return opened
}

/** Starts a run each second and waits for it, while streams and pages are open. Then starts the same folder ten times. */
export const measureDay = async ({ seconds = 7_200 }: { seconds?: number } = {}): Promise<Day> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-day-'))
  const receivers: Receiver[] = []
  const receiver = async (body: string, status: number) => {
    const opened = await startReceiver()
    opened.answer({ kind: 'answer', status, body })
    receivers.push(opened)
    return opened
  }
  try {
    const prompt = await receiver(DONE, 200)
    const slow = await receiver('{}', 202)
    const day: Day = { seconds, slices: [], failed: 0, streamsOpened: 0, starts: [] }
    const { url, pid, stop } = await npmStart(folder)
    const over = new AbortController()
    try {
      const call = clientOf(url)
      const tenants: Tenant[] = []
      const followed: Tenant[] = []
      while (tenants.length < TENANTS) tenants.push(await createTenant(call, prompt.url, []))
      while (followed.length < STREAMS) followed.push(await createTenant(call, slow.url, []))
      const streams = followed.map((tenant) => follow(url, call, tenant, over.signal))
      const pages = openPages(url, call, over.signal)
      let times: number[] = []
      const one = async ({ headers }: Tenant) => {
        const from = performance.now()
        const answer = await call('POST', '/api/v1/runs?wait=30', headers, { input: {}, trigger: 'bench' }).catch(
          String,
        )
        if (answer.status === 'succeeded') times.push(performance.now() - from)
        else day.failed++
        for (const { requests } of receivers) requests.length = 0
      }
      const began = performance.now()
      const running = new Set<Promise<void>>()
      for (let n = 0; day.slices.length < SLICES; n++) {
        const run: Promise<void> = one(tenants[n % TENANTS] as Tenant).finally(() => running.delete(run))
        running.add(run)
        await pause(Math.max(0, began + (n + 1) * 1_000 - performance.now()))
        if (performance.now() - began < ((day.slices.length + 1) * seconds * 1_000) / SLICES) continue
        const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)]
        day.slices.push({ runs: times.length, p50, p95, ...held(pid, folder) })
        times = []
      }
      await Promise.all(running)
      over.abort()
      await pages
      day.streamsOpened = (await Promise.all(streams)).reduce((sum, each) => sum + each, 0)
    } finally {
      over.abort()
      await stop()
    }
    while (day.starts.length < STARTS) {
      const from = performance.now()
      const again = await npmStart(folder)
      const ready = (performance.now() - from) / 1_000
      await pause(5_000)
      day.starts.push({ ready, ...held(again.pid, folder) })
      await again.stop()
    }
    return day
  } finally {
    await Promise.all(receivers.map((each) => each.close()))
    rmSync(folder, { recursive: true, force: true })
  }
}

const cellsOf = ({ memory, openFiles, size }: Held): string[] => [fixed(memory, 0), fixed(openFiles, 0), fixed(size, 1)]

/** Formats the result. */
export const dayTables = ({ seconds, slices, failed, streamsOpened, starts }: Day): Table[] => [
  {
    title: '`npm start` over a long day',
    columns: ['minutes', 'runs', 'p50 ms', 'p95 ms', 'memory MB', 'open files', 'folder MB'],
    rows: slices.map(({ runs, p50, p95, ...rest }, i) => [
      fixed(((i + 1) * seconds) / SLICES / 60, 0),
      String(runs),
      fixed(p50, 0),
      fixed(p95, 0),
      ...cellsOf(rest),
    ]),
    notes: [
      `One run a second (\`POST /api/v1/runs?wait=30\`) of ${TENANTS} tenants, ${STREAMS} streams of runs that don't end (${streamsOpened} connections), ${PAGES} pages of the console in a browser. ${failed} runs failed. Memory: proportional set size of the platform and its store.`,
    ],
  },
  {
    title: 'The same folder, started again',
    columns: ['start', 'ready s', 'memory MB', 'open files', 'folder MB'],
    rows: starts.map(({ ready, ...rest }, i) => [String(i + 1), fixed(ready, 1), ...cellsOf(rest)]),
  },
]
