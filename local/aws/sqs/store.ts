import type { DatabaseSync } from 'node:sqlite'

/** A message attribute in the wire format. Binary values are base64. */
export interface MessageAttribute {
  DataType: string
  StringValue?: string
  BinaryValue?: string
}

/** One message of a queue. Times are epoch milliseconds. */
export interface Message {
  id: string
  body: string
  attributes: Record<string, MessageAttribute>
  groupId: string | undefined
  sentAt: number
  /** Hidden until this time: the end of its delay or of its visibility timeout. */
  visibleAt: number
  receives: number
  firstReceivedAt: number | undefined
  /** Handle of the latest receive. */
  receipt: string | undefined
  /** ARN of the queue that gave it up, for a dead letter. */
  deadLetterSource: string | undefined
}

/** Stores a queue's messages across restarts. */
export interface MessageStore {
  load(queue: string): Message[]
  save(queue: string, message: Message): void
  remove(id: string): void
}

/** Stores messages in the local run's database. */
export const createMessageStore = (database: DatabaseSync): MessageStore => {
  const all = database.prepare('SELECT * FROM queued_messages WHERE queue = ? ORDER BY rowid')
  const put = database.prepare(
    `INSERT INTO queued_messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET queue = excluded.queue,
     visible_at = excluded.visible_at, receives = excluded.receives, first_received_at = excluded.first_received_at,
     receipt = excluded.receipt, dead_letter_source = excluded.dead_letter_source`,
  )
  const drop = database.prepare('DELETE FROM queued_messages WHERE id = ?')
  return {
    load: (queue) =>
      all.all(queue).map((row) => ({
        id: String(row.id),
        body: String(row.body),
        attributes: JSON.parse(String(row.attributes)),
        groupId: row.group_id === null ? undefined : String(row.group_id),
        sentAt: Number(row.sent_at),
        visibleAt: Number(row.visible_at),
        receives: Number(row.receives),
        firstReceivedAt: row.first_received_at === null ? undefined : Number(row.first_received_at),
        receipt: row.receipt === null ? undefined : String(row.receipt),
        deadLetterSource: row.dead_letter_source === null ? undefined : String(row.dead_letter_source),
      })),
    save: (queue, m) => {
      const attributes = JSON.stringify(m.attributes)
      const [group, first, receipt] = [m.groupId ?? null, m.firstReceivedAt ?? null, m.receipt ?? null]
      const source = m.deadLetterSource ?? null
      put.run(m.id, queue, m.body, attributes, group, m.sentAt, m.visibleAt, m.receives, first, receipt, source)
    },
    remove: (id) => {
      drop.run(id)
    },
  }
}
