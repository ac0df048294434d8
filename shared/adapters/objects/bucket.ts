import { bucketAddress, signedBucketAddress } from '../../kernel/bucket-address.ts'
import { type SignedRequests, signedRequests } from '../signed-requests.ts'

/** Address of the bucket, and signed requests to it. */
export interface Bucket {
  requests: SignedRequests
  /** Returns an object's address, with its path as it is sent and signed. */
  urlOf(key: string): URL
  /** Returns the object's address for clients, before it is signed. */
  clientUrlOf(key: string): URL
}

const TIMEOUT_MS = 10_000

/**
 * Creates the client of a bucket.
 * @param environment AWS_REGION, the credentials that Lambda sets, and for emulators AWS_ENDPOINT_URL_S3 and OBJECTS_URL
 */
export const createBucket = (name: string, environment: Record<string, string | undefined>): Bucket => {
  const below = (base: string) => (key: string) => new URL(`${base}/${key.split('/').map(uriEncode).join('/')}`)
  return {
    requests: signedRequests('s3', environment, TIMEOUT_MS),
    urlOf: below(bucketAddress(name, environment)),
    clientUrlOf: below(signedBucketAddress(name, environment)),
  }
}

/** Encodes text as Signature Version 4 requires: everything but the unreserved characters of RFC 3986. */
export const uriEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
