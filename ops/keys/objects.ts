import {
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { deleteVersions } from '../versions.ts'
import type { KeyObjects } from './reseal.ts'

/** The bucket's objects with keys, with the operator's credentials. */
export const keyObjectsOf = (client: S3Client, Bucket: string): KeyObjects => {
  const put = async (Key: string, Body: Uint8Array, ContentType: string, IfNoneMatch?: '*') => {
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType, IfNoneMatch }))
  }
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
    put,
    async create(key, bytes, contentType) {
      try {
        await put(key, bytes, contentType, '*')
        return true
      } catch (error) {
        const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
        if (status === 409 || status === 412) return false
        throw error
      }
    },
    remove: (key) => deleteVersions(client, Bucket, key),
    async *list(Prefix) {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
        for (const { Key } of Contents) if (Key !== undefined) yield Key
      }
    },
  }
}
