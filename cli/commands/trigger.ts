import { readFile } from 'node:fs/promises'
import { APP_OPTION, chosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'

export const trigger: Command = {
  name: 'trigger',
  usage: 'trigger <event>',
  summary: 'Have a sample event happen in your sandbox',
  help: `Has a realistic event of a type happen for the app’s installation in your sandbox: its webhooks and its feed get it, marked
with "test": true. Nothing else follows from it. An unknown type is refused with the list of those that there are.

  <event>             a type such as run.succeeded or task.created; custom.<name> for one of your own
  --data <json>       fields that take the place of the sample’s; @file reads them from a file
${APP_OPTION}
  --json              the event

Examples:
  npx aip trigger run.succeeded
  npx aip trigger custom.order.paid --data '{"order_id": "ord_7"}'
  npx aip trigger task.created --app stock-helper --json`,
  options: { app: { type: 'string' }, data: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { positionals, values, out } = invocation
    const [type = ''] = positionals
    const api = invocation.api()
    const data = await dataOf(textOf(values.data))
    const done = out.progress(`Triggering ${type}`)
    try {
      const app = await chosenApp(invocation, api, 'trigger')
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
const dataOf = async (given: string | undefined): Promise<object | undefined> => {
  if (given === undefined) return undefined
  try {
    const text = given.startsWith('@') ? await readFile(given.slice(1), 'utf8') : given
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    throw new UsageError(`--data cannot be read: ${(error as Error).message}.`, 'trigger')
  }
  throw new UsageError('--data is not a JSON object.', 'trigger')
}
