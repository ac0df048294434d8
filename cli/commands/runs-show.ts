import { ApiError } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, UsageError } from '../command.ts'
import { type LogEntry, meaningOf } from '../log-entry.ts'
import { resultLines, statusText, stepText } from '../run-text.ts'
import { findSandboxRun, sandboxToken } from '../sandbox.ts'

export const showRun: Command = {
  name: 'runs show',
  usage: 'runs show <run>',
  summary: 'Show one run: its steps, error and result',
  help: `Shows a run of your sandbox with steps, input and result (the app needs the scope runs:read), and of customers’ runs the
metadata. Runs stay for 30 days.

  <run>               the run’s ID (run_…)
${APP_OPTION}
  --json              print {"log", "run"}; run is null for customers’ runs, log while the run is active

Examples:
  aip runs show run_01kae5m1v8w6c3x9q2r7t4y0zn
  aip runs show run_01kae5m1v8w6c3x9q2r7t4y0zn --json | jq .run.steps`,
  options: { app: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { positionals, out } = invocation
    const [id = ''] = positionals
    if (!/^run_\w+$/.test(id)) throw new UsageError('<run> must be a run’s ID (run_…).', 'runs show')
    const api = invocation.api()
    out.progress(`Reading ${id}`)
    const app = await loadChosenApp(invocation, api, 'runs show')
    const { items } = await api.insist('GET', `/api/v1/dev/apps/${app.id}/logs?run_id=${id}`)
    const log: LogEntry | undefined = items[0]
    const isTheirs = log !== undefined && !log.is_sandbox
    const run = isTheirs ? undefined : await findSandboxRun(api, await sandboxToken(api, app.id), id)
    if (!log && !run) throw notFound(id, app.slug)
    const status = run?.status ?? log?.status ?? ''
    const took = run?.duration_ms ?? log?.duration_ms
    const facts = [
      `${statusText(out, status)} ${id}`,
      `v${run?.agent.version ?? log?.version}`,
      `started by ${run?.trigger ?? log?.trigger}`,
      ...(took == null ? [] : [`${took} ms`]),
    ]
    const lines = [facts.join('  '), `  created ${run?.created_at ?? log?.created_at}`]
    if (run) {
      lines.push(`  input   ${JSON.stringify(run.input)}`, ...run.steps.map((step) => stepText(out, step)))
      lines.push(...resultLines(out, run))
    } else if (log?.error_code) {
      const { message, fix } = meaningOf(log.error_code)
      lines.push(`  ${log.error_code}: ${message}`, `  ${out.paint('green', 'fix')} ${fix}`)
    }
    out.result({ log: log ?? null, run: run ?? null }, lines.join('\n'))
    if (isTheirs) out.note('Customers’ runs show metadata only.')
    return 0
  },
}

const notFound = (id: string, slug: string): ApiError =>
  new ApiError(404, {
    code: 'not_found',
    message: `${slug} has no run ${id}.`,
    fix: 'Check the ID and --app. A run that is still active is shown only if it is in your sandbox.',
  })
