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
  it('says no, as slowly as with one', async () => {
    const stored = await hashPassword('x')
    const time = async (against: string | undefined) => {
      const times = []
      for (let i = 0; i < 5; i++) {
        const started = performance.now()
        expect(await verifyPassword('y', against)).toBe(false)
        times.push(performance.now() - started)
      }
      return Math.min(...times)
    }
    const [unknown, known] = [await time(undefined), await time(stored)]
    expect(unknown / known).toBeGreaterThan(0.5)
    expect(unknown / known).toBeLessThan(2)
  })

  it('says no also to what would give the empty tag', async () => {
    expect(await verifyPassword('', undefined)).toBe(false)
  })
})
