import { isDeepStrictEqual } from 'node:util'
import { type AttributeValue, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { type Keyring, parseKeyring } from '#shared/kernel/keyring.ts'
import { seal, unsealBytes } from '#shared/kernel/sealed.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { type StoredItem, scan } from '../operator/scan.ts'

/** What a walk through the table came by. */
export interface Walked {
  /** Items. */
  seen: number
  /** Values that another key than the current one encrypted: that are there (dry), or were. */
  sealed: number
}

export interface Place {
  client: DynamoDBClient
  tableName: string
  /** Read units a second; a consistent read takes one for 4 KB. */
  rate?: number
}

/**
 * Walks the whole table for values that {@link seal} made with another key than the ring's current one, and encrypts them
 * anew, each for the record that its header names. A value that somebody changes meanwhile is theirs, and new.
 *
 * It knows no entity: a sealed value says itself what it is, and only a true one opens. Objects in the bucket are left alone:
 * those that are sealed live two days at most (kept answers) or minutes (requests to a listening developer).
 *
 * @param text the keyring's
 */
export async function reseal(place: Place, text: string, { dry }: { dry: boolean }): Promise<Walked> {
  const ring = parseKeyring(text)
  const walked: Walked = { seen: 0, sealed: 0 }
  const { client, tableName: TableName, rate = 1_000 } = place
  for await (const { items } of scan(client, { TableName }, rate)) {
    for (const item of items) {
      const fresh = await renewed(ring, { M: item })
      walked.seen += 1
      walked.sealed += fresh.sealed
      if (!dry && fresh.sealed > 0) await write(place, item, fresh.value.M ?? {})
    }
  }
  return walked
}

type Renewed = { value: AttributeValue; sealed: number }

/** A value with everything sealed inside it sealed anew, and how much that was. */
async function renewed(ring: Keyring, value: AttributeValue): Promise<Renewed> {
  if (value.S !== undefined) return renewedText(ring, value.S)
  const inner = Object.entries(value.M ?? value.L ?? {})
  const parts = await Promise.all(inner.map(async ([key, one]) => [key, await renewed(ring, one)] as const))
  const sealed = parts.reduce((sum, [, part]) => sum + part.sealed, 0)
  if (sealed === 0) return { value, sealed }
  const after = parts.map(([key, part]) => [key, part.value] as const)
  return { value: value.L ? { L: after.map(([, one]) => one) } : { M: Object.fromEntries(after) }, sealed }
}

/** A compact JWE without an encrypted key. */
const SEALED = /^(eyJ[\w-]{10,1000})\.\.[\w-]{16}\.[\w-]*\.[\w-]{22}$/

async function renewedText(ring: Keyring, text: string): Promise<Renewed> {
  const same = { value: { S: text }, sealed: 0 }
  const header = SEALED.exec(text)?.[1]
  const { kid, rec } = header === undefined ? {} : headerOf(header)
  if (typeof kid !== 'string' || typeof rec !== 'string' || kid === ring.currentId) return same
  // A text that only looks like one, such as a caller may write into a task, does not open.
  const plain = await unsealBytes(ring, rec, text).catch(() => undefined)
  return plain === undefined ? same : { value: { S: await seal(ring, rec, plain) }, sealed: 1 }
}

const headerOf = (part: string): { kid?: unknown; rec?: unknown } => {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) ?? {}
  } catch {
    return {}
  }
}

/** Only the attributes that changed, and only where they are still as they were read. */
async function write({ client, tableName }: Place, before: StoredItem, after: StoredItem): Promise<void> {
  const changed = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]))
  const each = (text: (n: number) => string, by: string) => changed.map((_, n) => text(n)).join(by)
  const values = (prefix: string, of: StoredItem) => changed.map((name, n) => [`:${prefix}${n}`, of[name]] as const)
  const key = (name: string) => [name, before[name]] as const
  const update = new UpdateItemCommand({
    TableName: tableName,
    Key: Object.fromEntries([key(TABLE_LAYOUT.partitionKey), key(TABLE_LAYOUT.sortKey)]) as StoredItem,
    UpdateExpression: `SET ${each((n) => `#a${n} = :new${n}`, ', ')}`,
    ConditionExpression: each((n) => `#a${n} = :old${n}`, ' AND '),
    ExpressionAttributeNames: Object.fromEntries(changed.map((name, n) => [`#a${n}`, name])),
    ExpressionAttributeValues: Object.fromEntries([...values('old', before), ...values('new', after)]) as StoredItem,
  })
  try {
    await client.send(update)
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error
  }
}
