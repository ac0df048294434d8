import { createHash } from 'node:crypto'
import type { MessageAttribute } from './store.ts'

/** Returns the digest in SQS's response to a send, which SDKs verify. */
export const md5 = (data: string | Uint8Array): string => createHash('md5').update(data).digest('hex')

const sized = (data: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(data as Uint8Array)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/**
 * Returns the digest of message attributes, sorted by name. Name, type and value are each preceded by their length, and
 * the value also by a byte for its transport type (SQS developer guide, "Calculating the MD5 message digest for message
 * attributes").
 */
export const md5OfAttributes = (attributes: Record<string, MessageAttribute>): string | undefined => {
  const names = Object.keys(attributes).sort()
  if (names.length === 0) return undefined
  const parts = names.flatMap((name) => {
    const { DataType = '', StringValue, BinaryValue } = attributes[name] ?? {}
    const value = StringValue ?? Buffer.from(BinaryValue ?? '', 'base64')
    return [sized(name), sized(DataType), Buffer.from([StringValue === undefined ? 2 : 1]), sized(value)]
  })
  return md5(Buffer.concat(parts))
}
