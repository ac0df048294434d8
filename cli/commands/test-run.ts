import { setTimeout as pause } from 'node:timers/promises'
import { type Api, ApiError } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, dataOf, textOf } from '../command.ts'
import type { Output } from '../output.ts'
import { resultLines, statusText, stepText } from '../run-text.ts'
import { type Run, sandboxToken } from '../sandbox.ts'

export const testRun: Command = {
  name: 'test-run',
  usage: 'test-run [--follow]',
  summary: 'Run the agent now, in your sandbox',
  help: `Performs one real run of the newest version in your sandbox and waits up to 60 seconds for its end. Exits with 1 if the run
fails.

  --input <json>      the run’s input; @file reads it from a file
  --follow, -f        show each step as it happens, and wait for the end however long it takes; needs the scope runs:read
${APP_OPTION}
  --json              print the run with its installation and agent; with --follow, print each step before it

Examples:
  aip test-run
  aip test-run --follow --input '{"name": "Lin"}'
  aip test-run --input @input.json --json | jq .run.output`,
  options: { app: { type: 'string' }, input: { type: 'string' }, follow: { type: 'boolean', short: 'f' } },
  positionals: 0,
  async run(invocation) {
    const { values, out } = invocation
    const api = invocation.api()
    const input = await dataOf(textOf(values.input), '--input', 'test-run')
    out.progress('Running')
    const app = await loadChosenApp(invocation, api, 'test-run')
    const path = `/api/v1/dev/apps/${app.id}/test-run`
    const started = api.insist('POST', path, { body: input === undefined ? {} : { input } })
    const answer = values.follow === true ? await follow(api, app.id, started, out) : await started
    const { id, status } = answer.run as Run
    const failed = status === 'failed' || status === 'cancelled'
    const head = `${statusText(out, status)} ${id} v${answer.agent.version}`
    out.result(answer, [head, ...resultLines(out, answer.run)].join('\n'))
    if (status === 'awaiting_approval') out.note(`A person has to decide. As the customer: aip open ${id}`)
    return failed ? 1 : 0
  },
}

const LOOK_MS = 400
/** Clocks differ, so a run that began up to this much before the request may be its run. */
const SKEW_MS = 5_000

/** Shows the steps of a test run while its request waits, and afterwards until the run ends. */
const follow = async (api: Api, appId: string, started: Promise<{ run: Run }>, out: Output) => {
  let answer: { run: Run } | undefined
  let refused: unknown
  started.then(
    (value) => {
      answer = value
    },
    (error: unknown) => {
      refused = error
    },
  )
  const since = Date.now() - SKEW_MS
  const shown = new Set<string>()
  let token: string | undefined
  let id: string | undefined
  const show = ({ steps }: Run): void => {
    for (const step of steps) {
      // A step that waits is shown again once it is decided.
      const state = `${step.id} ${step.status}`
      if (shown.has(state)) continue
      shown.add(state)
      out.result({ step }, stepText(out, step))
    }
  }
  for (;;) {
    if (refused !== undefined) throw refused
    if (answer && answer.run.finished_at !== null) {
      show(answer.run)
      return answer
    }
    id ??= answer?.run.id
    try {
      token ??= await sandboxToken(api, appId)
      id ??= await findTestRun(api, token, since)
      const run: Run | undefined = id && (await api.insist('GET', `/api/v1/runs/${id}`, { token }))
      if (run) show(run)
      if (run && answer) answer = { ...answer, run }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 0) throw error
      if (error.status === 401) token = undefined
      else if (error.status === 403) {
        out.note('Steps are shown at the end: the app’s scopes don’t include runs:read.')
        return started
      }
    }
    await pause(LOOK_MS)
  }
}

/** Returns the id of the test run that began since a time. */
const findTestRun = async (api: Api, token: string, since: number): Promise<string | undefined> => {
  const { items } = (await api.insist('GET', '/api/v1/runs?limit=5', { token })) as { items: Run[] }
  return items.find(({ trigger, created_at, finished_at }) => {
    const isRecent = Date.parse(created_at) >= since
    return trigger === 'test' && isRecent && finished_at === null
  })?.id
}
