import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '#shared/domain/admins/password.ts'

describe.each(['argon2id', 'scrypt'] as const)('%s', (algorithm) => {
  it('knows the password again and nothing else', async () => {
    const stored = await hashPassword('correct horse', algorithm)
    expect(stored).toMatch(new RegExp(`^${algorithm}\\$[\\w-]{22}\\$[\\w-]{43}$`))
    expect(await verifyPassword('correct horse', stored)).toBe(true)
    expect(await verifyPassword('correct horsf', stored)).toBe(false)
    expect(await verifyPassword('', stored)).toBe(false)
  })

  it('salts', async () => {
    expect(await hashPassword('same', algorithm)).not.toBe(await hashPassword('same', algorithm))
  })
})

describe('without a stored password', () => {
  it('says no, after the same work', async () => {
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
    // Without the work it would take a thousandth; the margin is for a busy machine.
    expect(unknown).toBeGreaterThan(known / 5)
  })

  it('says no also to what would give the empty tag', async () => {
    expect(await verifyPassword('', undefined)).toBe(false)
  })
})
