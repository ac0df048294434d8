import type { Api } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'
import { type Output, oneLine, timeOfDay } from '../output.ts'
import { listWebhooks, sandboxToken } from '../sandbox.ts'

interface Delivery {
  id: string
  event_id: string
  event_type: string
  status: string
  attempt: number
  next_attempt_at: string | null
  created_at: string
  attempts: { response_code: number | null; duration_ms: number; error: string | null; hint: string | null }[]
}

export const deliveries: Command = {
  name: 'deliveries',
  usage: 'deliveries',
  summary: 'List webhook deliveries of your sandbox and their responses',
  help: `Lists the latest deliveries of the subscriptions that the app’s installation in your sandbox has, oldest first, with the last
response and why it failed. The app needs the scope webhooks:manage. aip replay sends one again.

  --webhook <id>      only this subscription
  --status <status>   only pending, succeeded, failed or skipped ones
  --type <type>       only these event types, such as run.failed or run.*,task.*
  --limit <n>         number for each subscription, 1 to 100; default: 20
${APP_OPTION}
  --json              print one delivery per line, with all attempts

Examples:
  aip deliveries
  aip deliveries --status failed --type 'run.*'
  aip deliveries --status failed --json | jq -r .id | xargs -n1 aip replay`,
  options: {
    app: { type: 'string' },
    webhook: { type: 'string' },
    status: { type: 'string' },
    type: { type: 'string' },
    limit: { type: 'string' },
  },
  positionals: 0,
  async run(invocation) {
    const { values, out } = invocation
    const limit = textOf(values.limit) ?? '20'
    if (!/^[1-9]\d?$|^100$/.test(limit)) throw new UsageError('--limit must be a number from 1 to 100.', 'deliveries')
    const status = textOf(values.status)
    if (status !== undefined && !STATUSES.includes(status)) {
      throw new UsageError(`--status must be ${STATUSES.join(', ')}.`, 'deliveries')
    }
    const api = invocation.api()
    out.progress('Reading the deliveries')
    const app = await loadChosenApp(invocation, api, 'deliveries')
    const token = await sandboxToken(api, app.id)
    const webhook = textOf(values.webhook)
    const ids = webhook ? [webhook] : (await listWebhooks(api, token)).map(({ id }) => id)
    const types = textOf(values.type)
    const filter = { ...(status && { status }), ...(types && { types }) }
    const lists = await Promise.all(
      ids.map(async (id) => {
        const found = await listDeliveries(api, token, id, filter, Number(limit))
        return found.map((delivery) => ({ ...delivery, webhook_id: id }))
      }),
    )
    const shown = lists.flat().sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
    for (const delivery of shown) out.result(delivery, textOfDelivery(out, delivery))
    if (ids.length === 0) out.note('The app has no webhook subscription in your sandbox.')
    else if (shown.length === 0) out.note('There are no such deliveries.')
    return 0
  },
}

interface Page {
  items: Delivery[]
  next_cursor: string | null
}

/** Lists a subscription's latest deliveries. A page can be short while more match, so it asks on. */
const listDeliveries = async (
  api: Api,
  token: string,
  webhook: string,
  filter: Record<string, string>,
  limit: number,
): Promise<Delivery[]> => {
  const found: Delivery[] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ ...filter, limit: String(limit - found.length), ...(cursor && { cursor }) })
    const path = `/api/v1/webhooks/${encodeURIComponent(webhook)}/deliveries?${query}`
    const page: Page = await api.insist('GET', path, { token })
    found.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null && found.length < limit)
  return found
}

const STATUSES = ['pending', 'succeeded', 'failed', 'skipped']

const textOfDelivery = ({ paint }: Output, delivery: Delivery): string => {
  const { id, event_type, status, attempt, created_at, attempts } = delivery
  const last = attempts.at(-1)
  const colour = status === 'succeeded' ? 'green' : status === 'failed' ? 'red' : 'yellow'
  const parts = [
    timeOfDay(new Date(created_at)),
    paint(colour, status.padEnd(9)),
    id,
    event_type.padEnd(22),
    ...(last ? [last.response_code ?? 'no response', `${last.duration_ms} ms`] : []),
    ...(attempt > 1 ? [`${attempt} attempts`] : []),
  ]
  const why = status !== 'succeeded' && last ? (last.hint ?? last.error) : null
  return why === null ? parts.join('  ') : `${parts.join('  ')}\n          ${oneLine(why)}`
}
