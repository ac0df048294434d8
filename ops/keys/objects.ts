import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
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
    async remove(key) {
      // A key is written a few times in its life, so one page has all its versions.
      const { Versions = [], DeleteMarkers = [] } = await client.send(
        new ListObjectVersionsCommand({ Bucket, Prefix: key }),
      )
      const all = [...Versions, ...DeleteMarkers].filter(({ Key }) => Key === key)
      for (const { VersionId } of all) await client.send(new DeleteObjectCommand({ Bucket, Key: key, VersionId }))
    },
    async *list(Prefix) {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
        for (const { Key } of Contents) if (Key !== undefined) yield Key
      }
    },
  }
}
