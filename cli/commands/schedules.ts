import type { Api } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, dataOf, type Invocation, textOf, UsageError } from '../command.ts'
import { type Output, oneLine } from '../output.ts'
import { statusText } from '../run-text.ts'
import { type Run, sandboxToken } from '../sandbox.ts'

interface Schedule {
  id: string
  name: string
  status: string
  start: object
  when: Record<string, unknown>
  overlap: string
  next_at: string | null
  next_times: string[]
  failures: number
  paused_reason: string | null
  last_error: string | null
}

interface Occurrence {
  at: string
  status: string
  run: { id: string; status: string | null } | null
  reason: string | null
}

/** Opens the sandbox installation of the chosen app, whose schedules the commands read and change. */
const open = async (invocation: Invocation, command: string, progress: string) => {
  const api = invocation.api()
  invocation.out.progress(progress)
  const app = await loadChosenApp(invocation, api, command)
  const token = await sandboxToken(api, app.id)
  return (method: string, path: string, body?: object): ReturnType<Api['insist']> =>
    api.insist(method, `/api/v1/schedules${path}`, { token, ...(body && { body }) })
}

/** @throws {UsageError} */
const idOf = ({ positionals: [id = ''] }: Invocation, command: string): string => {
  if (/^sch_\w+$/.test(id)) return id
  throw new UsageError('<schedule> must be a schedule’s ID (sch_…). Run: aip schedules list', command)
}

const WHEN = {
  cron: { type: 'string' },
  zone: { type: 'string' },
  every: { type: 'string' },
  at: { type: 'string' },
  event: { type: 'string' },
  match: { type: 'string' },
  'ends-at': { type: 'string' },
} as const

const WHEN_HELP = `  --cron <expression> five fields: minute, hour, day of month, month, weekday
  --zone <name>       the expression’s time zone, such as Europe/Amsterdam; default: this machine’s
  --every <duration>  elapsed time between two starts, such as PT1H
  --at <time>         one time, such as 2027-01-31T09:00:00+01:00
  --event <type>      events of a type, or a mask such as custom.order.*
  --match <json>      values that the event’s data must have, such as '{"order.kind": "gift"}'
  --ends-at <time>    from then on, it starts nothing`

/** Reads when a schedule falls due from the options. @throws {UsageError} */
const timing = async ({ values }: Invocation, command: string) => {
  const [cron, zone, every, at] = [values.cron, values.zone, values.every, values.at].map(textOf)
  const event = textOf(values.event)
  const match = await dataOf(textOf(values.match), '--match', command)
  if ([cron, every, at, event].filter((one) => one !== undefined).length !== 1) {
    throw new UsageError('Give exactly one of --cron, --every, --at and --event.', command)
  }
  if (match !== undefined && event === undefined) throw new UsageError('--match needs --event.', command)
  if (zone !== undefined && cron === undefined) throw new UsageError('--zone needs --cron.', command)
  const ends_at = textOf(values['ends-at'])
  return {
    when:
      cron === undefined
        ? {
            ...(every !== undefined && { every }),
            ...(at !== undefined && { at }),
            ...(event !== undefined && { event }),
            ...(match !== undefined && { match }),
          }
        : { cron, time_zone: zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone },
    ...(ends_at !== undefined && { ends_at }),
  }
}

const whenText = (when: Schedule['when']): string => {
  const { cron, time_zone, every, at, event, match } = when
  if (cron !== undefined) return `${cron} in ${time_zone}`
  if (every !== undefined) return `every ${every}`
  if (event !== undefined) return `at ${event}${match === undefined ? '' : ` with ${JSON.stringify(match)}`}`
  // A platform that is newer than this tool may know other kinds.
  return at === undefined ? JSON.stringify(when) : `at ${at}`
}

/** Formats a time in this machine's zone, with weekday and offset. */
const local = (time: string): string => new Date(time).toString().replace(/ \(.*/, '')

const COLOURS: Record<string, 'green' | 'yellow'> = { active: 'green', paused: 'yellow' }

const headline = ({ paint }: Output, { id, name, status, when, next_at }: Schedule): string =>
  oneLine(
    [
      paint(COLOURS[status] ?? 'dim', status.padEnd(6)),
      id,
      name,
      whenText(when),
      ...(next_at === null ? [] : [`next ${local(next_at)}`]),
    ].join('  '),
  )

const details = (out: Output, schedule: Schedule): string => {
  const { start, overlap, next_times, failures, paused_reason, last_error } = schedule
  return [
    headline(out, schedule),
    `  starts  ${JSON.stringify(start)}`,
    `  overlap ${oneLine(overlap)}`,
    ...next_times.map((time, i) => `  ${i === 0 ? 'next' : '    '}    ${local(time)}`),
    ...(paused_reason === null ? [] : [oneLine(`  paused  ${paused_reason}`)]),
    ...(failures === 0 ? [] : [oneLine(`  failed  ${failures} times in a row: ${last_error ?? ''}`)]),
  ].join('\n')
}

const occurrenceText = (out: Output, { at, status, run, reason }: Occurrence): string =>
  oneLine(
    `  ${local(at)}  ${run ? `${statusText(out, run.status ?? 'deleted')} ${run.id}` : `${status} ${reason ?? ''}`}`,
  )

const APP = { app: { type: 'string' } } as const

export const listSchedules: Command = {
  name: 'schedules list',
  usage: 'schedules list',
  summary: 'List the schedules of your sandbox',
  help: `Lists the schedules of the app’s installation in your sandbox, newest first. The app needs the scope runs:read.

  --status <status>   only schedules with this status: active, paused or ended
${APP_OPTION}
  --json              print one schedule per line

Examples:
  aip schedules list
  aip schedules list --status paused --json | jq -r .paused_reason`,
  options: { ...APP, status: { type: 'string' } },
  positionals: 0,
  async run(invocation) {
    const { out, values } = invocation
    const call = await open(invocation, 'schedules list', 'Reading the schedules')
    const status = textOf(values.status)
    let cursor: string | null = null
    let count = 0
    do {
      const query = new URLSearchParams({ limit: '100', ...(status && { status }), ...(cursor && { cursor }) })
      const page: { items: Schedule[]; next_cursor: string | null } = await call('GET', `?${query}`)
      for (const schedule of page.items) out.result(schedule, headline(out, schedule))
      count += page.items.length
      cursor = page.next_cursor
    } while (cursor !== null)
    if (count === 0) out.note('There are no schedules. Create one with: aip schedules create')
    return 0
  },
}

export const createSchedule: Command = {
  name: 'schedules create',
  usage: 'schedules create <name> --cron <expression>',
  summary: 'Create a schedule in your sandbox',
  help: `Creates a schedule that starts runs of the app’s installation in your sandbox, without asking, until you pause it. The app
needs the scope runs:write.

  <name>              its name
${WHEN_HELP}
  --input <json>      the runs’ input; @file reads it from a file; default: {}
  --tool <name>       start with a tool that the manifest declares, instead of --input
  --arguments <json>  the tool’s arguments; @file reads them from a file
  --overlap <what>    what happens while the run before is still active: skip (default), queue or allow
  --missed <what>     what happens after an outage: latest (default) or skip
${APP_OPTION}
  --json              print the schedule

Examples:
  aip schedules create 'Weekly summary' --cron '0 9 * * MON' --zone Europe/Amsterdam --input '{"name": "Lin"}'
  aip schedules create 'Stock' --every PT15M --tool stock --arguments '{"sku": "mug"}' --overlap queue
  aip schedules create 'Gifts' --event custom.order.paid --match '{"order.kind": "gift"}'`,
  options: {
    ...APP,
    ...WHEN,
    input: { type: 'string' },
    tool: { type: 'string' },
    arguments: { type: 'string' },
    overlap: { type: 'string' },
    missed: { type: 'string' },
  },
  positionals: 1,
  async run(invocation) {
    const { out, values, positionals } = invocation
    const command = 'schedules create'
    const [input, args] = [
      await dataOf(textOf(values.input), '--input', command),
      await dataOf(textOf(values.arguments), '--arguments', command),
    ]
    const tool = textOf(values.tool)
    if (tool !== undefined && input) throw new UsageError('Give --input or --tool, not both.', command)
    if (tool === undefined && args) throw new UsageError('--arguments needs --tool.', command)
    const [overlap, missed] = [textOf(values.overlap), textOf(values.missed)]
    const body = {
      name: positionals[0] ?? '',
      ...(await timing(invocation, command)),
      start: tool === undefined ? { input: input ?? {} } : { tool, ...(args && { arguments: args }) },
      ...(overlap !== undefined && { overlap }),
      ...(missed !== undefined && { missed }),
    }
    const call = await open(invocation, command, 'Creating the schedule')
    const schedule: Schedule = await call('POST', '', body)
    out.result(schedule, details(out, schedule))
    return 0
  },
}

export const showSchedule: Command = {
  name: 'schedules show',
  usage: 'schedules show <schedule>',
  summary: 'Show one schedule: its next times and its history',
  help: `Shows a schedule of your sandbox with its next times, why it is paused, and what last fell due. The app needs the scope
runs:read.

  <schedule>          the schedule’s ID (sch_…)
${APP_OPTION}
  --json              print {"schedule", "occurrences"}

Examples:
  aip schedules show sch_01kae5m1v8w6c3x9q2r7t4y0zn
  aip schedules show sch_01kae5m1v8w6c3x9q2r7t4y0zn --json | jq '.occurrences[].run.id'`,
  options: APP,
  positionals: 1,
  async run(invocation) {
    const { out } = invocation
    const id = idOf(invocation, 'schedules show')
    const call = await open(invocation, 'schedules show', `Reading ${id}`)
    const schedule: Schedule = await call('GET', `/${id}`)
    const { items: occurrences }: { items: Occurrence[] } = await call('GET', `/${id}/occurrences?limit=10`)
    const lines = [details(out, schedule), ...occurrences.map((one) => occurrenceText(out, one))]
    out.result({ schedule, occurrences }, lines.join('\n'))
    return 0
  },
}

/** A command that changes the status of a schedule and prints it. */
const stateCommand = (verb: 'pause' | 'resume', summary: string, help: string): Command => ({
  name: `schedules ${verb}`,
  usage: `schedules ${verb} <schedule>`,
  summary,
  help: `${help}

  <schedule>          the schedule’s ID (sch_…)
${APP_OPTION}
  --json              print the schedule

Examples:
  aip schedules ${verb} sch_01kae5m1v8w6c3x9q2r7t4y0zn`,
  options: APP,
  positionals: 1,
  async run(invocation) {
    const { out } = invocation
    const id = idOf(invocation, `schedules ${verb}`)
    const call = await open(invocation, `schedules ${verb}`, verb === 'pause' ? `Pausing ${id}` : `Resuming ${id}`)
    const schedule: Schedule = await call('POST', `/${id}/${verb}`)
    out.result(schedule, details(out, schedule))
    return 0
  },
})

export const pauseSchedule = stateCommand(
  'pause',
  'Pause a schedule',
  'Pauses a schedule of your sandbox. It starts no runs until you resume it. A run that is active continues.',
)

export const resumeSchedule = stateCommand(
  'resume',
  'Resume a paused schedule',
  'Resumes a schedule of your sandbox from now on. What would have fallen due meanwhile makes no run.',
)

export const runSchedule: Command = {
  name: 'schedules run',
  usage: 'schedules run <schedule>',
  summary: 'Start a run of a schedule now',
  help: `Starts a run of a schedule of your sandbox now, and doesn’t wait for its end. Its times don’t change.

  <schedule>          the schedule’s ID (sch_…)
  --event <event>     try a schedule that events start with a recorded event (evt_…)
${APP_OPTION}
  --json              print the run

Examples:
  aip schedules run sch_01kae5m1v8w6c3x9q2r7t4y0zn
  aip schedules run sch_01kae5m1v8w6c3x9q2r7t4y0zn --event evt_01kae5m1v8w6c3x9q2r7t4y0zn`,
  options: { ...APP, event: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { out } = invocation
    const id = idOf(invocation, 'schedules run')
    const call = await open(invocation, 'schedules run', `Starting a run of ${id}`)
    const event_id = textOf(invocation.values.event)
    const run: Run = await call('POST', `/${id}/run`, event_id === undefined ? undefined : { event_id })
    out.result(run, `${statusText(out, run.status)} ${run.id}`)
    out.note(`Show it with: aip runs show ${run.id}`)
    return 0
  },
}

export const deleteSchedule: Command = {
  name: 'schedules delete',
  usage: 'schedules delete <schedule>',
  summary: 'Delete a schedule',
  help: `Deletes a schedule of your sandbox. Its runs stay, and those that are active continue.

  <schedule>          the schedule’s ID (sch_…)
${APP_OPTION}
  --json              print {"id", "deleted"}

Examples:
  aip schedules delete sch_01kae5m1v8w6c3x9q2r7t4y0zn`,
  options: APP,
  positionals: 1,
  async run(invocation) {
    const { out } = invocation
    const id = idOf(invocation, 'schedules delete')
    const call = await open(invocation, 'schedules delete', `Deleting ${id}`)
    await call('DELETE', `/${id}`)
    out.result({ id, deleted: true }, `${out.paint('green', 'deleted')} ${id}`)
    return 0
  },
}

export const nextTimes: Command = {
  name: 'schedules next',
  usage: 'schedules next --cron <expression>',
  summary: 'Show when a schedule would fall due, without saving it',
  help: `Shows the next five times of a schedule, in this machine’s time zone, without saving it. The app needs the scope runs:read.

${WHEN_HELP}
${APP_OPTION}
  --json              print {"next_times"}

Examples:
  aip schedules next --cron '0 9 * * MON-FRI' --zone Europe/Amsterdam
  aip schedules next --every P1D --json | jq -r '.next_times[]'`,
  options: { ...APP, ...WHEN },
  positionals: 0,
  async run(invocation) {
    const { out } = invocation
    const body = await timing(invocation, 'schedules next')
    const call = await open(invocation, 'schedules next', 'Asking for the next times')
    const preview: { next_times: string[] } = await call('POST', '/preview', body)
    out.result(preview, preview.next_times.map(local).join('\n'))
    return 0
  },
}
