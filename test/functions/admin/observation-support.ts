import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { AdminEntity } from '#shared/staff/admins/entity.ts'
import { createdEventId } from '#shared/work/runs/emit.ts'
import { adminToken } from '#testkit/fixtures.ts'
import { succeeded, type TestPlatform } from '#testkit/platform.ts'

export const SUPER = { headers: { 'x-admin-key': 'local-admin-key' } }

/** Creates a moderator directly in the store and signs them in. */
export const signInModerator = async (platform: TestPlatform) => {
  const now = platform.clock.now()
  const admin = {
    ...stampOf(newId('admin', now)),
    email: `${newId('admin', now)}@example.com`,
    name: 'Mo',
    role: 'moderator' as const,
    password_hash: '',
    session_version: 1,
  }
  await platform.deps.table.transact([AdminEntity.create(admin)])
  const token = await adminToken(platform.deps, admin.id)
  return { token, admin }
}

/** Reads a path as a superadmin, after advancing the clock so that no rate limit applies. */
export const readAsAdmin = async (platform: TestPlatform, path: string, options: object = SUPER) => {
  platform.clock.advance(500)
  return succeeded(platform.call('GET', path, options))
}

/** Emits `run.created` of a new run to the bus. */
export const emitCreated = async (
  { deps, emitted }: TestPlatform,
  key: { installation_id: string; id: string },
): Promise<void> => {
  const event = await deps.table.get(OutboxEntity, { id: createdEventId(key.id) })
  if (event) emitted.push(event)
}
