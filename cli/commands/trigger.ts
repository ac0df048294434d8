import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, dataOf, textOf } from '../command.ts'

export const trigger: Command = {
  name: 'trigger',
  usage: 'trigger <event>',
  summary: 'Trigger a sample event in your sandbox',
  help: `Triggers a realistic event for the app’s installation in your sandbox. Its webhooks and its feed get the event, marked with
"test": true. The event has no other effect. If the type is unknown, the error lists all types.

  <event>             a type such as run.succeeded or task.created, or custom.<name> for your own events
  --data <json>       fields that replace those of the sample; @file reads them from a file
${APP_OPTION}
  --json              print the event

Examples:
  aip trigger run.succeeded
  aip trigger custom.order.paid --data '{"order_id": "ord_7"}'
  aip trigger task.created --app stock-helper --json`,
  options: { app: { type: 'string' }, data: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { positionals, values, out } = invocation
    const [type = ''] = positionals
    const api = invocation.api()
    const data = await dataOf(textOf(values.data), '--data', 'trigger')
    const done = out.progress(`Triggering ${type}`)
    try {
      const app = await loadChosenApp(invocation, api, 'trigger')
      const event = await api.insist('POST', '/api/v1/dev/sandbox/trigger', {
        body: { app_id: app.id, type, ...(data && { data }) },
      })
      done()
      out.result(event, `${out.paint('green', 'triggered')} ${event.type} ${event.id} for ${app.slug}`)
      return 0
    } finally {
      done()
    }
  },
}
