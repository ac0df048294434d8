import { setTimeout as pause } from 'node:timers/promises'
import { abortOnSignals } from '../abort-on-signals.ts'
import { type Api, isTemporary, retryDelay } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'
import { type LogEntry, meaningOf } from '../log-entry.ts'
import { type Output, oneLine, timeOfDay } from '../output.ts'
import { findSandboxRun, sandboxToken } from '../sandbox.ts'

export const logs: Command = {
  name: 'logs',
  usage: 'logs [--follow]',
  summary: 'Show an app’s finished runs, oldest first',
  help: `Shows metadata of the app’s latest finished runs, including test runs, and why runs failed. With --follow, also shows each run once as it
finishes, until you press Ctrl-C.

  --follow, -f        keep showing runs as they finish
  --limit <n>         number of past runs to show, 0 to 100; default: 10
  --status <status>   only runs with this status: succeeded, failed or cancelled
${APP_OPTION}
  --json              print one run per line

Examples:
  aip logs --follow
  aip logs --status failed --limit 50
  aip logs -f --json | jq -r 'select(.error_code) | .run_id'`,
  options: {
    app: { type: 'string' },
    follow: { type: 'boolean', short: 'f' },
    limit: { type: 'string' },
    status: { type: 'string' },
  },
  positionals: 0,
  async run(invocation) {
    const { values, out } = invocation
    const limit = limitOf(textOf(values.limit))
    const api = invocation.api()
    out.progress('Reading the log')
    const stop = abortOnSignals()
    try {
      const app = await loadChosenApp(invocation, api, 'logs')
      const path = `/api/v1/dev/apps/${app.id}/logs`
      const query = textOf(values.status) === undefined ? '' : `&status=${encodeURIComponent(String(values.status))}`
      const errorsOf = explainer(api, app.id)
      if (values.follow === true) return await follow(api, path, query, limit, out, stop.signal, errorsOf)
      const { items } = limit === 0 ? { items: [] } : await api.insist('GET', `${path}?limit=${limit}${query}`)
      await show(out, items, errorsOf)
      return 0
    } finally {
      stop.end()
    }
  },
}

const limitOf = (text = '10'): number => {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit <= 100) return limit
  throw new UsageError('--limit must be a number from 0 to 100.', 'logs')
}

const MINUTE = 60_000
const POLL = 1_500
/**
 * Time that each poll looks back, and that an occasional longer one does. The log is sorted by start time, but a run is
 * added to it when it finishes. An approval can take a day.
 */
const NEAR = 10 * MINUTE
const FAR = 26 * 60 * MINUTE
const FAR_EVERY = MINUTE
/** Maximum number of pages of 100 runs that one poll reads. */
const PAGES = 50

const follow = async (
  api: Api,
  path: string,
  query: string,
  limit: number,
  out: Output,
  signal: AbortSignal,
  errorsOf: ErrorsOf,
): Promise<number> => {
  const seen = new Map<string, number>()
  let farAt = 0
  let first = true
  let failures = 0
  while (!signal.aborted) {
    const now = Date.now()
    const far = now >= farAt
    try {
      const { entries, cut } = await readBack(api, path, query, now - (far ? FAR : NEAR), signal)
      if (far) farAt = now + FAR_EVERY
      if (cut) out.note('There are too many runs to follow. Runs that started earlier may be missing.')
      if (failures > 0) out.note('Reconnected.')
      failures = 0
      out.endProgress()
      const fresh = entries.filter(({ run_id }) => !seen.has(run_id)).sort(byEnd)
      for (const { run_id, created_at } of fresh) seen.set(run_id, Date.parse(created_at))
      const latest = first ? fresh.slice(fresh.length - Math.min(limit, fresh.length)) : fresh
      await show(out, latest.reverse(), errorsOf)
      if (first) out.note('Waiting for runs. Press Ctrl-C to stop.')
      first = false
      for (const [id, at] of seen) if (at < now - FAR - NEAR) seen.delete(id)
      await wait(POLL, signal)
    } catch (error) {
      if (signal.aborted) break
      if (!isTemporary(error)) throw error
      failures += 1
      if (failures === 1) out.note(`${error.message} Retrying …`)
      await wait(retryDelay(failures, error.retryAfterMs), signal)
    }
  }
  return 0
}

const wait = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, undefined, { signal }).catch(() => {})

const byEnd = (a: LogEntry, b: LogEntry): number =>
  Date.parse(a.finished_at) - Date.parse(b.finished_at) || (a.run_id < b.run_id ? -1 : 1)

/** Lists the entries of runs that started since a given time. @returns `cut`: whether there are more entries */
const readBack = async (
  api: Api,
  path: string,
  query: string,
  since: number,
  signal: AbortSignal,
): Promise<{ entries: LogEntry[]; cut: boolean }> => {
  const entries: LogEntry[] = []
  let cursor = ''
  for (let pages = 0; pages < PAGES; pages++) {
    const page = await api.call('GET', `${path}?limit=100${query}${cursor}`, { signal })
    const items = page.items as LogEntry[]
    entries.push(...items)
    const last = items.at(-1)
    if (page.next_cursor === null || !last || Date.parse(last.created_at) < since) return { entries, cut: false }
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
  return { entries, cut: true }
}

/** @param entries newest first */
const show = async (out: Output, entries: readonly LogEntry[], errorsOf: ErrorsOf): Promise<void> => {
  for (const entry of [...entries].reverse()) {
    const { status, run_id, trigger, version, duration_ms, error_code, is_sandbox, finished_at } = entry
    const colour = status === 'succeeded' ? 'green' : status === 'failed' ? 'red' : 'yellow'
    const error = error_code === null ? null : await errorsOf(entry, error_code)
    const parts = [
      timeOfDay(new Date(finished_at)),
      out.paint(colour, status.padEnd(9)),
      run_id,
      `${duration_ms} ms`.padStart(9),
      `${trigger} v${version}`,
      ...(is_sandbox ? ['sandbox'] : []),
      ...(error_code === null ? [] : [out.paint('red', error_code)]),
    ]
    const lines = error ? [`          ${error.message}`, `          ${out.paint('green', 'fix')} ${error.fix}`] : []
    out.result({ ...entry, error }, [parts.join('  '), ...lines].map(oneLine).join('\n'))
  }
}

type ErrorsOf = (entry: LogEntry, code: string) => Promise<{ message: string; fix: string }>

/** Explains errors: with the run's own message in the sandbox, otherwise with the meaning of the code. */
const explainer = (api: Api, appId: string): ErrorsOf => {
  let token: Promise<string> | undefined
  return async ({ run_id, is_sandbox }, code) => {
    if (!is_sandbox) return meaningOf(code)
    token ??= sandboxToken(api, appId)
    try {
      const error = (await findSandboxRun(api, await token, run_id))?.error
      return error ? { message: error.message, fix: error.fix } : meaningOf(code)
    } catch {
      // The token ended, or the platform is busy: the next error asks again.
      token = undefined
      return meaningOf(code)
    }
  }
}
