import { type Api, ApiError } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'
import { listWebhooks, sandboxToken } from '../sandbox.ts'

export const replay: Command = {
  name: 'replay',
  usage: 'replay <delivery>',
  summary: 'Resend a webhook delivery of your sandbox',
  help: `Resends a delivery (whd_…) of the app’s installation in your sandbox, whatever its status: the same event with the same
ID and a new signature. Deliveries of customers’ installations can’t be resent. The app needs the scope webhooks:manage.

  <delivery>          the delivery’s ID, as shown by listen and sent as X-SVC-Delivery
  --webhook <id>      the subscription; default: searches all subscriptions of the installation
${APP_OPTION}
  --json              print the delivery

Examples:
  aip replay whd_01kae5m1v8w6c3x9q2r7t4y0zn
  aip listen --json | jq -r 'select(.failed) | .delivery_id' | xargs -n1 aip replay`,
  options: { app: { type: 'string' }, webhook: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { positionals, values, out } = invocation
    const [delivery = ''] = positionals
    if (!/^whd_\w+$/.test(delivery)) throw new UsageError('<delivery> must be a delivery’s ID (whd_…).', 'replay')
    const api = invocation.api()
    out.progress(`Resending ${delivery}`)
    const app = await loadChosenApp(invocation, api, 'replay')
    const token = await sandboxToken(api, app.id)
    const webhook = textOf(values.webhook)
    const again = await redeliver(
      api,
      token,
      delivery,
      webhook ? [webhook] : (await listWebhooks(api, token)).map(({ id }) => id),
    )
    out.result(again, `${out.paint('green', 'resent')} ${again.event_type ?? ''} ${delivery}`)
    return 0
  },
}

/** Resends a delivery. @throws {ApiError} `not_found` if none of the subscriptions has it */
const redeliver = async (api: Api, token: string, delivery: string, of: string[]) => {
  for (const webhook of of) {
    try {
      const path = `/api/v1/webhooks/${encodeURIComponent(webhook)}/deliveries/${delivery}/redeliver`
      return await api.insist('POST', path, { token })
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
    }
  }
  throw new ApiError(404, {
    code: 'not_found',
    message: `The app’s installation in your sandbox has no delivery ${delivery}.`,
    fix: 'Check the ID and --app. Deliveries are kept for 30 days, and customers’ deliveries can’t be resent.',
  })
}
