import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, dataOf, textOf } from '../command.ts'

export const testRun: Command = {
  name: 'test-run',
  usage: 'test-run',
  summary: 'Run the agent now, in your sandbox',
  help: `Performs one real run of the newest version in your sandbox and waits up to 60 seconds for its end. Exits with 1 if the run
fails.

  --input <json>      the run’s input; @file reads it from a file
${APP_OPTION}
  --json              print the run with its installation and agent

Examples:
  aip test-run
  aip test-run --input '{"name": "Lin"}'
  aip test-run --input @input.json --json | jq .run.output`,
  options: { app: { type: 'string' }, input: { type: 'string' } },
  positionals: 0,
  async run(invocation) {
    const { values, out } = invocation
    const api = invocation.api()
    const input = await dataOf(textOf(values.input), '--input', 'test-run')
    const done = out.progress('Running')
    try {
      const app = await loadChosenApp(invocation, api, 'test-run')
      const path = `/api/v1/dev/apps/${app.id}/test-run`
      const answer = await api.insist('POST', path, { body: input === undefined ? {} : { input } })
      done()
      const { id, status, output, error } = answer.run
      const failed = status === 'failed' || status === 'cancelled'
      const lines = [`${out.paint(failed ? 'red' : 'green', status)} ${id} v${answer.agent.version}`]
      if (error) lines.push(`  ${error.code}: ${error.message}`, `  ${out.paint('green', 'fix')} ${error.fix}`)
      if (output != null) lines.push(JSON.stringify(output, null, 2))
      out.result(answer, lines.join('\n'))
      return failed ? 1 : 0
    } finally {
      done()
    }
  },
}
