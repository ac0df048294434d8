import type { Platform } from '#local/platform.ts'
import type { Recorded } from './accounts.ts'
import type { Kind } from './kinds.ts'
import type { Arrival } from './receivers.ts'
import type { Tenant } from './tenants.ts'

/** Results of the deliveries to one kind of receiver. */
export interface KindResult {
  kind: Kind
  delivered: number
  failed: number
  skipped: number
  requests: number
  /** Last error of a failed delivery. */
  error: string
}

export const perKind = (
  kinds: readonly Kind[],
  tenants: readonly Tenant[],
  deliveries: readonly Recorded[],
  arrivals: ReadonlyMap<string, Arrival>,
): KindResult[] => {
  const all = tenants.flatMap(({ subscriptions }) => subscriptions)
  return kinds.map((kind) => {
    const own = all.filter((one) => one.kind === kind)
    const urls = new Set(own.map(({ url }) => url))
    const ids = new Set(own.map(({ id }) => id))
    const mine = deliveries.filter(({ webhook_id }) => ids.has(webhook_id))
    const count = (status: string) => mine.filter((one) => one.status === status).length
    const seen = [...arrivals].filter(([key]) => urls.has(key.split(' ')[0] ?? ''))
    return {
      kind,
      delivered: count('succeeded'),
      failed: count('failed'),
      skipped: count('skipped'),
      requests: seen.reduce((sum, [, { requests }]) => sum + requests, 0),
      error: mine.find(({ status }) => status === 'failed')?.error ?? '',
    }
  })
}

export interface DeadLetters {
  queue: string
  messages: number
  example: string
}

/** Reads the dead letters. */
export const deadLettersOf = async ({ model, queue }: Platform): Promise<DeadLetters[]> => {
  const read = new Set(model.queueSources.map(({ queueArn }) => queueArn))
  const letters = []
  for (const { name } of model.queues.filter(({ arn }) => !read.has(arn))) {
    const dead = queue(name)
    const { visible, inFlight } = dead.counts()
    const [first] = visible > 0 ? await dead.receive({ max: 1, visibilitySeconds: 0 }) : []
    // Removes the stack's name and the hash.
    const short = name.replace(/^.*Messaging/, '').replace(/[0-9A-F]{8}$/, '')
    letters.push({ queue: short, messages: visible + inFlight, example: first?.body.slice(0, 80) ?? '' })
  }
  return letters
}
