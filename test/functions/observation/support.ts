import { issueToken } from '#shared/domain/tokens/tokens.ts'
import { AdminEntity } from '#shared/entities/platform.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { TestPlatform } from '#test/support/platform.ts'

export const SUPER = { headers: { 'x-admin-key': 'local-admin-key' } }

/** A moderator's sign-in, made right in the store. */
export const moderator = async (platform: TestPlatform) => {
  const now = platform.clock.now()
  const admin = {
    id: newId('admin', now),
    email: `${newId('admin', now)}@example.com`,
    name: 'Mo',
    role: 'moderator' as const,
    password_hash: '',
    session_version: 1,
    created_at: now,
  }
  await platform.deps.table.transact([AdminEntity.create(admin)])
  const { token } = await issueToken(platform.deps, 'admin', { adm: admin.id, sv: 1 })
  return { token, admin }
}

/** Reads what superadmins are shown; time passes, so that no rate limit is met. */
export const seen = async (platform: TestPlatform, path: string, options: object = SUPER) => {
  platform.clock.advance(500)
  const { status, body } = await platform.call('GET', path, options)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body
}
