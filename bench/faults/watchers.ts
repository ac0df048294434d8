import { setTimeout as pause } from 'node:timers/promises'
import { SECOND } from '#shared/kernel/clock.ts'
import type { Table } from '#shared/table/table.ts'
import type { Recorded, Seen } from './accounts.ts'
import type { PatientClient } from './client.ts'
import type { Clocks } from './clock.ts'
import type { Tenant } from './tenants.ts'

const PAGE = 100

interface FeedPage {
  items: Seen[]
  has_more: boolean
  next_cursor: string | null
}

/** Polls an installation's feed with `since`, as an integration does, until it is stopped; then to the feed's end. */
export const pollFeed = async (call: PatientClient, { headers }: Tenant, everyMs: number, isOver: () => boolean) => {
  const seen: Seen[] = []
  for (;;) {
    const over = isOver()
    const last = seen.at(-1)
    const path = `/api/v1/events?limit=${PAGE}${last ? `&since=${last.id}` : ''}`
    const page: FeedPage = await call('GET', path, { headers })
    seen.push(...page.items.map(({ id, type }) => ({ id, type })))
    if (over && !page.has_more) return seen
    if (!page.has_more) await pause(over ? 100 : everyMs)
  }
}

/** Reads an installation's feed from its oldest event to its end, page by page. */
export const readFeed = async (call: PatientClient, { headers }: Tenant): Promise<Seen[]> => {
  const seen: Seen[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/api/v1/events?limit=${PAGE}${cursor && `&cursor=${cursor}`}`
    const page: FeedPage = await call('GET', path, { headers })
    seen.push(...page.items.map(({ id, type }) => ({ id, type })))
    cursor = page.next_cursor
  }
  return seen
}

/** Reads every delivery of an installation's subscriptions. */
export const readDeliveries = async (call: PatientClient, { headers, subscriptions }: Tenant): Promise<Recorded[]> => {
  const all: Recorded[] = []
  for (const { id: webhook_id } of subscriptions) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/api/v1/webhooks/${webhook_id}/deliveries?limit=${PAGE}${cursor && `&cursor=${cursor}`}`
      const page = await call('GET', path, { headers })
      for (const { event_id, status, attempt, attempts } of page.items) {
        all.push({ webhook_id, event_id, status, attempts: attempt, error: attempts.at(-1)?.error ?? null })
      }
      cursor = page.next_cursor
    }
  }
  return all
}

/** Enables subscriptions that were disabled after five failed deliveries. @returns their number */
export const enableDisabled = async (call: PatientClient, { headers }: Tenant): Promise<number> => {
  const { items } = await call('GET', '/api/v1/webhooks?limit=100', { headers })
  const disabled = items.filter(({ status }: { status: string }) => status === 'disabled')
  for (const { id } of disabled) await call('POST', `/api/v1/webhooks/${id}/enable`, { headers })
  return disabled.length
}

/** Repeated samples of the due index. */
export interface DueWatch {
  samples: number
  /** Longest overdue time in any sample, in ms, and its entry. */
  maxOverdueMs: number
  maxOverdue: string
  /** Takes a sample. @returns true if anything is due, now or later */
  sample(): Promise<boolean>
  /** Samples until it is stopped. */
  run(isOver: () => boolean): Promise<void>
}

const SAMPLE_EVERY = 2 * SECOND
const EVER = 9_999_999_999_999

/** Watches the due index. @param table client without faults */
export const watchDue = (table: Table, clocks: Clocks): DueWatch => {
  const watch: DueWatch = {
    samples: 0,
    maxOverdueMs: 0,
    maxOverdue: 'nothing',
    sample: async () => {
      const [first] = await table.due(EVER, 1)
      watch.samples += 1
      const overdue = first ? clocks.since(first.dueAt) : 0
      if (first && overdue > watch.maxOverdueMs) {
        watch.maxOverdueMs = overdue
        watch.maxOverdue = `${first.entity} ${first.key.pk} ${first.key.sk}`
      }
      return first !== undefined
    },
    run: async (isOver) => {
      while (!isOver()) {
        await watch.sample()
        await pause(SAMPLE_EVERY)
      }
    },
  }
  return watch
}
