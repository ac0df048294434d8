import { readFile } from 'node:fs/promises'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'

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
    const data = await dataOf(textOf(values.data))
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

/** @throws {UsageError} */
const dataOf = async (argument: string | undefined): Promise<object | undefined> => {
  if (argument === undefined) return undefined
  try {
    const text = argument.startsWith('@') ? await readFile(argument.slice(1), 'utf8') : argument
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    throw new UsageError(`--data can’t be read: ${(error as Error).message}.`, 'trigger')
  }
  throw new UsageError('--data must be a JSON object.', 'trigger')
}
