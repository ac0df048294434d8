import { createObjects } from '#shared/adapters/objects.ts'
import type { TestPlatform } from './platform.ts'
import { scratchFolder } from './scratch.ts'
import { startServices } from './services.ts'

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
    /** Makes the platform store its objects here. */
    serve: ({ deps }: TestPlatform) => Object.assign(deps.objects, objects),
    stop: async () => {
      await services.stop()
      place.remove()
    },
  }
}
