import { createObjects } from '#shared/adapters/objects.ts'
import { startServices } from '#test/local/services.ts'
import { temporaryFolder } from '#test/local/support.ts'
import type { TestPlatform } from './platform.ts'

const NAME = 'bucket'
const CORS = [
  { methods: ['PUT', 'GET'], origins: ['*'], headers: ['content-type', 'if-none-match'], exposed: ['ETag'] },
]

/** The local run's S3, and the adapter over it: signatures, conditions and expiry are checked as S3 checks them. */
export const startBucket = async () => {
  const place = temporaryFolder()
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
    /** Lets addresses age: time goes by for the bucket only. */
    later: (ms: number) => {
      offset = ms
    },
    /** The platform keeps its objects here from now on. */
    serve: ({ deps }: TestPlatform) => Object.assign(deps.objects, objects),
    stop: async () => {
      await services.stop()
      place.remove()
    },
  }
}
