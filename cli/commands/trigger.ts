import { type Api, ApiError } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, dataOf, textOf } from '../command.ts'
import { covers, listWebhooks, sandboxToken, type Webhook } from '../sandbox.ts'

export const trigger: Command = {
  name: 'trigger',
  usage: 'trigger <event>',
  summary: 'Trigger a sample event in your sandbox',
  help: `Triggers a realistic event for the app’s installation in your sandbox. Its webhooks and its feed get the event, marked with
"test": true. The event has no other effect. If the type is unknown, the error lists all types. Exits with 1 if no active
webhook subscription takes the event, so that only the feed has it.

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
    out.progress(`Triggering ${type}`)
    const app = await loadChosenApp(invocation, api, 'trigger')
    const event = await api.insist('POST', '/api/v1/dev/sandbox/trigger', {
      body: { app_id: app.id, type, ...(data && { data }) },
    })
    const receivers = await receiversOf(api, app.id, event.type)
    out.result(event, `${out.paint('green', 'triggered')} ${event.type} ${event.id} for ${app.slug}`)
    if (receivers.length === 0) {
      out.error({
        code: 'no_receiver',
        message: `No active webhook subscription of ${app.slug} in your sandbox takes ${event.type}. Only the feed has it.`,
        fix: `Create one with POST /api/v1/webhooks, or run: aip listen --forward-to <url> --events ${event.type}`,
      })
      return 1
    }
    for (const { id, url } of receivers) out.note(`  sent to ${url} (${id})`)
    return 0
  },
}

/** Returns the active subscriptions that get an event of a type. Without the scope `webhooks:manage` there are none. */
const receiversOf = async (api: Api, appId: string, type: string): Promise<Webhook[]> => {
  try {
    const webhooks = await listWebhooks(api, await sandboxToken(api, appId))
    return webhooks.filter(({ status, events }) => status === 'active' && events.some((mask) => covers(mask, type)))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'insufficient_scope') return []
    throw error
  }
}
