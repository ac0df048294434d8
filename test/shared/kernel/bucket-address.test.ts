import { expect, it } from 'vitest'
import { readSettings } from '#shared/kernel/settings.ts'

const settings = (env: Record<string, string>) =>
  readSettings({ BASE_URL: 'https://platform.test', TABLE_NAME: 'table', ...env })

it.each([
  [{ BUCKET_NAME: 'data', AWS_REGION: 'eu-central-1' }, 'https://data.s3.eu-central-1.amazonaws.com'],
  [{ BUCKET_NAME: 'data', AWS_REGION: 'cn-north-1' }, 'https://data.s3.cn-north-1.amazonaws.com.cn'],
  [{ BUCKET_NAME: 'data', AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:4566' }, 'http://127.0.0.1:4566'],
  [{}, undefined],
])('uploads of a stage with %j go to %s and nowhere else', (env, origin) => {
  expect(settings(env as Record<string, string>).uploadOrigin).toBe(origin)
})
