import { isDeepStrictEqual } from 'node:util'
import { type AttributeValue, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { seal, unsealBytes } from '#shared/kernel/encryption.ts'
import { type Keyring, parseKeyring } from '#shared/kernel/keyring.ts'
import { DATA_KEYS_PREFIX } from '#shared/kernel/ports/keys.ts'
import type { ObjectStore } from '#shared/kernel/ports/objects.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { type StoredItem, scan } from '../scan.ts'

/** Counts of a walk through the table. */
export interface Walked {
  /** Number of items. */
  seen: number
  /** Values encrypted with a key other than the current one: found (dry) or re-encrypted. */
  sealed: number
}

export interface Place {
  client: DynamoDBClient
  tableName: string
  /** Read units per second. A consistent read takes one per 4 KB. */
  rate?: number
  /** The objects with the workspaces' data keys. */
  objects: DataKeyObjects
}

export interface KeyObjects extends Pick<ObjectStore, 'get' | 'put'> {
  /** Lists the keys of the objects under a prefix. */
  list(prefix: string): AsyncIterable<string>
}

/** An object as it was read. S3 changes the tag with the content. */
export interface ReadObject {
  bytes: Uint8Array
  tag: string
}

export interface DataKeyObjects extends Pick<KeyObjects, 'list'> {
  read(key: string): Promise<ReadObject | undefined>
  /** Replaces an object. @returns false if it isn't the one that was read any more */
  replace(key: string, bytes: Uint8Array, contentType: string, read: ReadObject): Promise<boolean>
}

/**
 * Walks the whole table and re-encrypts values that {@link seal} made with a key other than the ring's current one, each for the
 * record that its header names. What a workspace's data key encrypted stays: the data key itself is wrapped again. A value that changes
 * in the meantime is left alone, because it already has the new key.
 *
 * The walk doesn't know entities: a sealed value identifies itself, and only genuine ones open. Objects in the bucket are skipped:
 * sealed ones live two days at most (stored answers) or minutes (requests to a listening developer).
 *
 * @param text text of the keyring
 */
export async function reseal(place: Place, text: string, { dry }: { dry: boolean }): Promise<Walked> {
  const ring = parseKeyring(text)
  const walked: Walked = { seen: 0, sealed: await rewrap(place, ring, dry) }
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

/**
 * Wraps workspaces' data keys again that an older key wrapped. A key that is destroyed meanwhile stays so, because the removal
 * of its workspace replaced the object.
 * @returns their number
 */
async function rewrap({ objects }: Place, ring: Keyring, dry: boolean): Promise<number> {
  let sealed = 0
  for await (const name of objects.list(`${DATA_KEYS_PREFIX}/`)) {
    const before = await objects.read(name)
    if (!before) continue
    const fresh = await renewedText(ring, new TextDecoder().decode(before.bytes))
    if (fresh.sealed === 0) continue
    const wrapped = Buffer.from(fresh.value.S ?? '')
    if (dry || (await objects.replace(name, wrapped, 'application/jose', before))) sealed += 1
  }
  return sealed
}

type Renewed = { value: AttributeValue; sealed: number }

/** Re-encrypts everything sealed inside a value. @returns the value and the number of re-encrypted parts */
async function renewed(ring: Keyring, value: AttributeValue): Promise<Renewed> {
  if (value.S !== undefined) return renewedText(ring, value.S)
  const inner = Object.entries(value.M ?? value.L ?? {})
  const parts = await Promise.all(inner.map(async ([key, one]) => [key, await renewed(ring, one)] as const))
  const sealed = parts.reduce((sum, [, part]) => sum + part.sealed, 0)
  if (sealed === 0) return { value, sealed }
  const after = parts.map(([key, part]) => [key, part.value] as const)
  return { value: value.L ? { L: after.map(([, one]) => one) } : { M: Object.fromEntries(after) }, sealed }
}

/** Matches a compact JWE without an encrypted key. */
const SEALED = /^(eyJ[\w-]{10,1000})\.\.[\w-]{16}\.[\w-]*\.[\w-]{22}$/

async function renewedText(ring: Keyring, text: string): Promise<Renewed> {
  const same = { value: { S: text }, sealed: 0 }
  const header = SEALED.exec(text)?.[1]
  const { kid, rec } = header === undefined ? {} : headerOf(header)
  if (typeof kid !== 'string' || typeof rec !== 'string') return same
  // A workspace's own key encrypted it, or the current one.
  if (!ring.ids.includes(kid) || kid === ring.currentId) return same
  // A text that only looks like a sealed value doesn't open. Callers can write such a text into a task.
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

/** Writes only the changed attributes, on the condition that they are still as they were read. */
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
