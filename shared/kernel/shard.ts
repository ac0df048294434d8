import { createHash } from 'node:crypto'

/** Returns the shard of a text, from 0 to `shards` - 1: always the same one, and all with the same likelihood. */
export const shardNumber = (text: string, shards: number): number =>
  createHash('sha256').update(text).digest().readUInt32BE(0) % shards
