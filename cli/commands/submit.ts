import { APP_OPTION, loadChosenApp } from '../app.ts'
import type { Command } from '../command.ts'

export const submit: Command = {
  name: 'submit',
  usage: 'submit',
  summary: 'Send the app to review',
  help: `Sends a draft or rejected app to the moderators. If something is missing, lists all of it and exits with 1.

${APP_OPTION}
  --json              print the app

Examples:
  aip submit
  aip submit --app stock-helper --json`,
  options: { app: { type: 'string' } },
  positionals: 0,
  async run(invocation) {
    const { out } = invocation
    const api = invocation.api()
    out.progress('Submitting')
    const app = await loadChosenApp(invocation, api, 'submit')
    const submitted = await api.insist('POST', `/api/v1/dev/apps/${app.id}/submit`)
    out.result(submitted, `${out.paint('green', 'submitted')} ${app.slug} is ${submitted.status}.`)
    return 0
  },
}
