import { type Api, ApiError } from '../api.ts'
import { APP_OPTION, chosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'

export const replay: Command = {
  name: 'replay',
  usage: 'replay <delivery>',
  summary: 'Send a webhook delivery of your sandbox again',
  help: `Sends a delivery (whd_…) of the app’s installation in your sandbox again, whatever became of it: the same event under the
same id, signed anew. Deliveries of customers’ installations are not reached. The app needs the scope webhooks:manage.

  <delivery>          its id, as listen shows it and as X-SVC-Delivery carries it
  --webhook <id>      the subscription, if you know it; otherwise each of the installation’s is asked
${APP_OPTION}
  --json              the delivery

Examples:
  npx aip replay whd_01kae5m1v8w6c3x9q2r7t4y0zn
  npx aip listen --json | jq -r 'select(.failed) | .delivery_id' | xargs -n1 npx aip replay`,
  options: { app: { type: 'string' }, webhook: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { positionals, values, out } = invocation
    const [delivery = ''] = positionals
    if (!/^whd_\w+$/.test(delivery)) throw new UsageError('<delivery> is a delivery’s id: whd_…', 'replay')
    const api = invocation.api()
    const done = out.progress(`Replaying ${delivery}`)
    try {
      const app = await chosenApp(invocation, api, 'replay')
      const token = await sandboxToken(api, app.id)
      const webhook = textOf(values.webhook)
      const again = await redeliver(api, token, delivery, webhook ? [webhook] : await webhooks(api, token))
      done()
      out.result(again, `${out.paint('green', 'sent again')} ${again.event_type ?? ''} ${delivery}`)
      return 0
    } finally {
      done()
    }
  },
}

/** A token for the app's sandbox installation: it reaches nothing of a customer's. */
const sandboxToken = async (api: Api, appId: string): Promise<string> =>
  (await api.insist('POST', `/api/v1/dev/apps/${appId}/sandbox-token`)).access_token

const webhooks = async (api: Api, token: string): Promise<string[]> => {
  const { items } = (await api.insist('GET', '/api/v1/webhooks?limit=100', { token })) as { items: { id: string }[] }
  return items.map(({ id }) => id)
}

/** @throws {ApiError} `not_found` when none of the subscriptions has the delivery */
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
    message: 'The app’s installation in your sandbox has no such delivery.',
    fix: 'Check the id and --app. Deliveries are kept 30 days; those of customers cannot be replayed from here.',
  })
}
