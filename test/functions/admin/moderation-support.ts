import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { AdminEntity } from '#shared/staff/admins/entity.ts'
import { newApp, newDeveloper, publish, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import { adminToken } from '#testkit/fixtures.ts'
import { succeeded, type TestPlatform } from '#testkit/platform.ts'

const ADMIN = { 'x-admin-key': 'local-admin-key' }

/** Sends a request with the local superadmin's key, or with other headers. */
export const asAdmin =
  (platform: TestPlatform) =>
  (method: string, path: string, body?: object, headers: Record<string, string> = ADMIN) =>
    platform.call(method, path, { headers, body })

/** Creates a moderator and returns the headers that sign them in. */
export const newModerator = async (
  platform: TestPlatform,
  name = 'Mo',
  role: 'moderator' | 'superadmin' = 'moderator',
) => {
  const id = newId('admin', platform.clock.now())
  await platform.deps.table.transact([
    AdminEntity.create({
      ...stampOf(id),
      email: `${id}@example.com`,
      name,
      role,
      password_hash: 'none',
      session_version: 1,
    }),
  ])
  const token = await adminToken(platform.deps, id)
  return { id, headers: { authorization: `Bearer ${token}` } }
}

export interface Submitted {
  developer: TestDeveloper
  app: TestApp
  version: string
}

const FIELDS = {
  summary: 'Answers questions about stock.',
  description: 'Ask it.',
  logo_url: 'https://app.example.com/logo.png',
  privacy_url: 'https://app.example.com/privacy',
  support_email: 'help@example.com',
}

/** Creates an app and submits it as its developer, entirely over the API. Only its test run is written directly. */
export const submitApp = async (
  platform: TestPlatform,
  fields: Record<string, unknown> = {},
  manifest: Record<string, unknown> = {},
  developer?: TestDeveloper,
): Promise<Submitted> => {
  const owner = developer ?? (await newDeveloper(platform))
  const app = await newApp(owner, { ...FIELDS, ...fields })
  const { body } = await publish(owner, app, manifest)
  const at = `/api/v1/dev/apps/${app.id}`
  await owner.call('POST', `${at}/versions/1.0.0/promote`)
  await platform.deps.table.transact([AppEntity.update(app, { set: { test_run_at: platform.clock.now() } })])
  await succeeded(owner.call('POST', `${at}/submit`))
  return { developer: owner, app, version: body.id }
}
