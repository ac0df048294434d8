import { DeleteObjectCommand, ListObjectVersionsCommand, type S3Client } from '@aws-sdk/client-s3'

/** Deletes all versions of an object, or of every object in the bucket. */
export const deleteVersions = async (client: S3Client, Bucket: string, key?: string): Promise<void> => {
  for (;;) {
    const { Versions = [], DeleteMarkers = [] } = await client.send(
      new ListObjectVersionsCommand({ Bucket, Prefix: key }),
    )
    const found = [...Versions, ...DeleteMarkers].filter(({ Key }) => key === undefined || Key === key)
    if (found.length === 0) return
    for (const { Key, VersionId } of found) await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
  }
}
