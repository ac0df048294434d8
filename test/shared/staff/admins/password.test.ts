import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '#shared/staff/admins/password.ts'

describe.each(['argon2id', 'scrypt'] as const)('%s', (algorithm) => {
  it('accepts the password and nothing else', async () => {
    const stored = await hashPassword('correct horse', algorithm)
    expect(stored).toMatch(new RegExp(`^${algorithm}\\$[\\w-]{22}\\$[\\w-]{43}$`))
    expect(await verifyPassword('correct horse', stored)).toBe(true)
    expect(await verifyPassword('correct horsf', stored)).toBe(false)
    expect(await verifyPassword('', stored)).toBe(false)
  })

  it('uses a salt', async () => {
    expect(await hashPassword('same', algorithm)).not.toBe(await hashPassword('same', algorithm))
  })
})

describe('without a stored password', () => {
  it('refuses, after the same work', async () => {
    const stored = await hashPassword('x')
    const time = async (against: string | undefined) => {
      const started = performance.now()
      expect(await verifyPassword('y', against)).toBe(false)
      return performance.now() - started
    }
    let [unknown, known] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let i = 0; i < 6; i++) {
      unknown = Math.min(unknown, await time(undefined))
      known = Math.min(known, await time(stored))
    }
    // Without the work it would take a thousandth of the time. The margin allows for a busy machine.
    expect(unknown).toBeGreaterThan(known / 5)
  })

  it('refuses also what would produce the empty tag', async () => {
    expect(await verifyPassword('', undefined)).toBe(false)
  })
})
