import { createObjects } from '#shared/adapters/objects.ts'
import type { TestPlatform } from './platform.ts'
import { scratchFolder } from './scratch.ts'
import { startServices } from './services.ts'
import { using } from './using.ts'

const NAME = 'bucket'
const CORS = [
  { methods: ['PUT', 'GET'], origins: ['*'], headers: ['content-type', 'if-none-match'], exposed: ['ETag'] },
]

/** Starts the local run's S3 with the adapter over it. It checks signatures, conditions and expiry as S3 does. */
export const startBucket = async () => {
  const place = scratchFolder('bucket-')
  let offset = 0
  const services = await startServices({
    dataDir: place.folder,
    buckets: [{ name: NAME, cors: CORS }],
    now: () => Date.now() + offset,
  })
  const { credentials, region } = services.config
  const objects = createObjects(NAME, {
    AWS_REGION: region,
    AWS_ENDPOINT_URL_S3: services.address,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: 'local-function-workspace',
  })
  return {
    name: NAME,
    objects,
    services,
    /** Ages presigned addresses: time passes for the bucket only. */
    later: (ms: number) => {
      offset = ms
    },
    stop: async () => {
      await services.stop()
      place.remove()
    },
  }
}

/** Provides the tests of a file with a bucket in which a platform stores its objects. */
export const usingBucket = (of: TestPlatform | { platform: TestPlatform }) =>
  using(
    async () => {
      const bucket = await startBucket()
      const { origin } = new URL(bucket.services.address)
      const { deps } = 'platform' in of ? of.platform : of
      Object.assign(deps.objects, bucket.objects)
      // The pages' policy allows this origin, as it allows a deployed stage's bucket.
      Object.assign(deps.settings, { uploadOrigin: origin })
      return { ...bucket, origin }
    },
    (bucket) => bucket.stop(),
  )
