import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { json, startReceiver } from '#testkit/receiver.ts'
import { using } from '#testkit/using.ts'

const root = path.join(import.meta.dirname, '../..')
const server = using(startReceiver, (started) => started.close())
const home = mkdtempSync(path.join(tmpdir(), 'aip-'))

/** Control sequences that clear a terminal, set its title, write its clipboard, or reorder and hide text. */
const HOSTILE = [
  '\u001b[2J\u001b[H',
  '\u001b]0;title\u0007',
  '\u001b]52;c;cm0gLXJmIH4=\u0007',
  '\u009b31m',
  '\r\u0008\u007f',
  '\u202egnp.exe\u2066',
  '\u{e0041}\u200b\u2028',
  '\u001b[8mhidden\u001b[0m',
].join('x')
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u{e0000}-\u{e007f}]/u

const run = {
  id: 'run_1',
  status: `failed${HOSTILE}`,
  trigger: HOSTILE,
  agent: { version: HOSTILE },
  duration_ms: 1,
  input: { a: HOSTILE },
  output: { text: HOSTILE },
  error: { code: HOSTILE, message: `${HOSTILE}\nsucceeded run_2`, fix: HOSTILE },
  steps: [
    { id: 'stp_1', seq: 1, type: HOSTILE, status: HOSTILE, tool: null, output: { text: `a\n  2  done ${HOSTILE}` } },
    { id: 'stp_2', seq: 2, type: 'message', status: 'done', tool: HOSTILE, output: { [HOSTILE]: HOSTILE } },
  ],
  created_at: HOSTILE,
  finished_at: null,
}
const entry = {
  run_id: 'run_1',
  version: HOSTILE,
  trigger: HOSTILE,
  status: 'failed',
  error_code: `custom${HOSTILE}`,
  duration_ms: 1,
  is_sandbox: true,
  created_at: '2026-01-01T00:00:00Z',
  finished_at: '2026-01-01T00:00:00Z',
}
const app = { id: 'app_1', slug: `app${HOSTILE}`, name: HOSTILE, description: `one\ntwo${HOSTILE}`, status: HOSTILE }
const delivery = {
  id: HOSTILE,
  event_id: 'evt_1',
  event_type: HOSTILE,
  status: 'failed',
  attempt: 2,
  next_attempt_at: null,
  created_at: '2026-01-01T00:00:00Z',
  attempts: [{ response_code: 500, duration_ms: 1, error: HOSTILE, hint: `${HOSTILE}\nfake` }],
}
const developer = {
  id: 'dev_1',
  email: HOSTILE,
  vendor: HOSTILE,
  sandbox_workspace: { id: HOSTILE },
}
const refusal = { code: HOSTILE, message: `${HOSTILE}\nsucceeded`, fix: HOSTILE, request_id: HOSTILE }
const details = {
  fields: { [HOSTILE]: [HOSTILE] },
  errors: [{ path: HOSTILE, message: HOSTILE, fix: HOSTILE }],
  missing: [HOSTILE],
}

const schedule = {
  id: HOSTILE,
  name: `one\ntwo${HOSTILE}`,
  status: HOSTILE,
  start: { input: { a: HOSTILE } },
  when: { cron: HOSTILE, time_zone: HOSTILE },
  overlap: HOSTILE,
  next_at: HOSTILE,
  next_times: [HOSTILE],
  failures: 1,
  paused_reason: HOSTILE,
  last_error: `${HOSTILE}\nfake`,
}
const occurrence = { at: HOSTILE, status: HOSTILE, run: { id: HOSTILE, status: HOSTILE }, reason: HOSTILE }

const answers: Record<string, unknown> = {
  '/api/v1/dev/me': developer,
  '/api/v1/dev/apps': { items: [app], next_cursor: null },
  '/api/v1/dev/apps/app_1': app,
  '/api/v1/dev/apps/app_1/logs': { items: [entry], next_cursor: null },
  '/api/v1/dev/apps/app_1/sandbox-token': { access_token: 'token' },
  '/api/v1/runs/run_1': run,
  '/api/v1/schedules': { items: [schedule], next_cursor: null },
  '/api/v1/schedules/sch_1': schedule,
  '/api/v1/schedules/sch_1/occurrences': { items: [occurrence], next_cursor: null },
  '/api/v1/schedules/sch_1/run': run,
  '/api/v1/webhooks': { items: [{ id: 'whk_1', url: HOSTILE, events: [HOSTILE], status: 'active' }] },
  '/api/v1/webhooks/whk_1/deliveries': { items: [delivery], next_cursor: null },
}

/** Runs the tool against the hostile server, with colours, and returns what it writes. */
const aip = async (command: string) => {
  server.answer(({ path: asked }) => {
    const answer = answers[asked.split('?')[0] ?? '']
    return answer === undefined ? json({ error: { ...refusal, details } }, 422) : json(answer)
  })
  const child = spawn(process.execPath, [path.join(root, 'cli/main.ts'), ...command.split(' ')], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      AIP_CONFIG: home,
      PLATFORM_URL: server.url,
      DEVELOPER_KEY: 'dvk_x',
      FORCE_COLOR: '1',
    },
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { out, err }
}

const COMMANDS = [
  'whoami',
  'apps',
  'apps show --app app_1',
  'logs --app app_1',
  'runs show run_1 --app app_1',
  'deliveries --app app_1',
  'submit --app app_2',
  'schedules list --app app_1',
  'schedules show sch_1 --app app_1',
  'schedules run sch_1 --app app_1',
  'schedules next --every PT1H --app app_1',
]

/** The tool's own colours. */
const ESC = String.fromCharCode(27)
const COLOURS = new RegExp(`${ESC}\\[\\d+m`, 'g')
/** Colours that the hostile texts try to use, which the tool itself doesn't. */
const FOREIGN = `${ESC}[8m`

describe('texts of others in a terminal', () => {
  it.each(COMMANDS)('can’t control it: aip %s', async (command) => {
    const { out, err } = await aip(command)
    expect(out + err).toMatch(/\\u001b\[2J/)
    expect(out + err).not.toContain(FOREIGN)
    expect((out + err).replaceAll(COLOURS, '')).not.toMatch(UNSAFE)
  })

  it.each(COMMANDS)('can’t control it as JSON, which keeps its value: aip %s', async (command) => {
    const { out, err } = await aip(`${command} --json`)
    expect(out + err).not.toMatch(UNSAFE)
    const [line = ''] = `${out}${err}`.split('\n')
    expect(Object.values(flat(JSON.parse(line)))).toContain(HOSTILE)
  })

  it('can’t look like lines of the tool', async () => {
    const shown = await aip('runs show run_1 --app app_1')
    expect(shown.out).not.toMatch(/^ *succeeded run_2|^ {2}2 {2}done/m)
    const refused = await aip('submit --app app_2')
    expect(refused.err).not.toMatch(/^succeeded/m)
    const listed = await aip('apps show --app app_1')
    expect(listed.out).not.toMatch(/^two/m)
  })

  it('reach it through one writer only', () => {
    const files = globSync('cli/**/*.ts', { cwd: root }).filter(
      // Texts of a new project's files, which the tool doesn't run.
      (file) => !['cli/output.ts', 'cli/project/templates.ts'].includes(file),
    )
    expect(files.length).toBeGreaterThan(30)
    const direct = files.filter((file) =>
      /\b(?:stdout|stderr)\b|\bconsole\.|['"](?:node:)?process['"]|stdio: ?'inherit'/.test(
        readFileSync(path.join(root, file), 'utf8'),
      ),
    )
    expect(direct).toEqual([])
  })
})

/** Lists the texts within a JSON value. */
const flat = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(flat)
      : []
