import {
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import type { DataKeyObjects, KeyObjects, ReadObject } from './reseal.ts'

/** The bucket's objects with keys, with the operator's credentials. */
export const keyObjectsOf = (client: S3Client, Bucket: string): KeyObjects & DataKeyObjects => {
  const read = async (Key: string): Promise<ReadObject | undefined> => {
    try {
      const { Body, ETag } = await client.send(new GetObjectCommand({ Bucket, Key }))
      const bytes = await Body?.transformToByteArray()
      return bytes && { bytes, tag: ETag ?? '' }
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined
      throw error
    }
  }
  return {
    read,
    get: async (key) => (await read(key))?.bytes,
    async replace(Key, Body, ContentType, { tag: IfMatch }) {
      try {
        await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType, IfMatch }))
        return true
      } catch (error) {
        // 409: another put of the same object was under way. 404: it was deleted.
        if (error instanceof S3ServiceException && [404, 409, 412].includes(error.$response?.statusCode ?? 0))
          return false
        throw error
      }
    },
    async put(Key, Body, ContentType) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType }))
    },
    async *list(Prefix) {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
        for (const { Key } of Contents) if (Key !== undefined) yield Key
      }
    },
  }
}
