import { GetObjectCommand, NoSuchKey, PutObjectCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3'
import type { KeyObjects } from './reseal.ts'

/** The bucket's objects with keys, with the operator's credentials. */
export const keyObjectsOf = (client: S3Client, Bucket: string): KeyObjects => {
  return {
    async get(Key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
        return await Body?.transformToByteArray()
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined
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
