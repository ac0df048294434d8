import fc from 'fast-check'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { describe, expect, it } from 'vitest'
import { iso } from '#shared/kernel/clock.ts'
import { decodeCursor, encodeCursor } from '#shared/kernel/cursor.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { ERRORS, fail } from '#shared/kernel/errors.ts'
import { derivedId, idFloor, idTime, isId, newId } from '#shared/kernel/ids.ts'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { covers, intersect } from '#shared/kernel/scopes.ts'
import { readSettings } from '#shared/kernel/settings.ts'

const secret = (seed: string): string => seed.repeat(64).slice(0, 64)
const ring = (current: string, ...ids: string[]) =>
  parseKeyring(JSON.stringify({ current, ...Object.fromEntries(ids.map((id) => [id, secret(id)])) }))

describe('ids', () => {
  it('are the prefix and a lower-case ULID that sorts by time', () => {
    const early = newId('run', 1_000)
    const late = newId('run', 2_000)
    expect(early).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(early < late).toBe(true)
    expect(idTime(late)).toBe(2_000)
    expect(idFloor('run', 2_000) <= late).toBe(true)
  })

  it('derive the same id from the same input, and another from any other', () => {
    expect(derivedId('delivery', 5, 'a')).toBe(derivedId('delivery', 5, 'a'))
    expect(derivedId('delivery', 5, 'a')).not.toBe(derivedId('delivery', 5, 'b'))
  })

  it('are valid only in their exact form', () => {
    const id = newId('run', Date.now())
    expect(isId('run', id)).toBe(true)
    for (const wrong of [id.toUpperCase(), `${id}x`, id.replace('run', 'app'), `${id.slice(0, -1)}#`, 'run_', '']) {
      expect(isId('run', wrong)).toBe(false)
    }
  })
})

it('times are ISO 8601 with milliseconds and an offset', () => {
  expect(iso(Date.UTC(2026, 10, 21, 10, 15, 30, 123))).toBe('2026-11-21T10:15:30.123+00:00')
})

describe('cursors', () => {
  it('return the position only to the same caller and query', () => {
    const cursor = encodeCursor(ring('k1', 'k1'), 'me list', 'RUN#42')
    expect(decodeCursor(ring('k1', 'k1'), 'me list', cursor)).toBe('RUN#42')
    expect(() => decodeCursor(ring('k1', 'k1'), 'you list', cursor)).toThrow('not valid')
  })

  it('remain valid after the key rotated', () => {
    const cursor = encodeCursor(ring('k1', 'k1'), 'me', 'x')
    expect(decodeCursor(ring('k2', 'k1', 'k2'), 'me', cursor)).toBe('x')
  })

  it('are refused after any change', () => {
    const keys = ring('k1', 'k1')
    const good = encodeCursor(keys, 'me', 'RUN#42')
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.constant(good.slice(0, -2))), (text) => {
        fc.pre(text !== good)
        expect(() => decodeCursor(keys, 'me', text)).toThrow('not valid')
      }),
    )
  })
})

describe('sealed values', () => {
  it('open for their own record only, also after a rotation', async () => {
    const sealed = await seal(ring('k1', 'k1'), 'app:1', 'agsec_x')
    expect(sealed).not.toContain('agsec')
    expect(await unseal(ring('k2', 'k1', 'k2'), 'app:1', sealed)).toBe('agsec_x')
    await expect(unseal(ring('k1', 'k1'), 'app:2', sealed)).rejects.toThrow('another record')
    await expect(unseal(ring('k2', 'k2'), 'app:1', sealed)).rejects.toThrow('no data key')
  })

  it('are JWEs that jose writes and reads', async () => {
    const keys = ring('k1', 'k1')
    const key = keys.bytes('jwe') as Uint8Array
    const header = { alg: 'dir', enc: 'A256GCM', kid: 'k1', rec: 'app:1' }
    const written = await new CompactEncrypt(Buffer.from('agsec_x')).setProtectedHeader(header).encrypt(key)
    expect(await unseal(keys, 'app:1', written)).toBe('agsec_x')
    const { plaintext } = await compactDecrypt(await seal(keys, 'app:1', 'agsec_y'), key)
    expect(Buffer.from(plaintext).toString()).toBe('agsec_y')
  })

  it('don’t open after any change', async () => {
    const keys = ring('k1', 'k1')
    const sealed = await seal(keys, 'app:1', 'agsec_x')
    const parts = sealed.split('.')
    const changed = (part: number, text: string) => parts.map((own, i) => (i === part ? text : own)).join('.')
    const flipped = (part: number) => {
      const bytes = Buffer.from(parts[part] as string, 'base64url')
      bytes[0] = (bytes[0] ?? 0) ^ 1
      return changed(part, bytes.toString('base64url'))
    }
    const header = (fields: object) =>
      changed(
        0,
        Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: 'k1', rec: 'app:1', ...fields })).toString(
          'base64url',
        ),
      )
    const shortTag = changed(
      4,
      Buffer.from(parts[4] as string, 'base64url')
        .subarray(0, 4)
        .toString('base64url'),
    )
    const wrong = [
      ...[2, 3, 4].map(flipped),
      header({ rec: 'app:1 ' }),
      header({ zip: 'DEF' }),
      header({ enc: 'A128GCM' }),
      shortTag,
      changed(1, 'AA'),
      `${sealed}.AA`,
      parts.slice(0, 4).join('.'),
      '',
    ]
    for (const value of wrong) await expect(unseal(keys, 'app:1', value), value).rejects.toThrow()
  })
})

describe('scopes', () => {
  it('of writing cover those of reading, never the other way round', () => {
    expect(covers(['runs:write'], 'runs:read')).toBe(true)
    expect(covers(['runs:read'], 'runs:write')).toBe(false)
  })

  it('in the intersection of two lists never exceed either', () => {
    expect(intersect(['runs:write', 'chat:read'], ['runs:read', 'files:read'])).toEqual(['runs:read'])
    expect(intersect(['runs:write'], ['runs:write'])).toEqual(['runs:write'])
  })
})

it('every error code explains its meaning and a fix', () => {
  for (const [code, [status, message, fix]] of Object.entries(ERRORS)) {
    expect(status, code).toBeGreaterThanOrEqual(400)
    expect(message.length, code).toBeGreaterThan(10)
    expect(fix.length, code).toBeGreaterThan(10)
  }
  expect(fail('agent_unreachable', { status: 504 }).status).toBe(504)
})

describe('settings', () => {
  const base = { BASE_URL: 'https://x.example/', TABLE_NAME: 't' }
  it('refuse the development switches unless the store is on loopback', () => {
    for (const name of ['CONSOLE_AUTO_PROVISION', 'ALLOW_LOOPBACK_TARGETS', 'LOCAL_ADMIN']) {
      expect(() => readSettings({ ...base, [name]: 'true' })).toThrow('loopback')
      expect(() =>
        readSettings({ ...base, [name]: 'true', AWS_ENDPOINT_URL: 'https://127.0.0.1.evil.example' }),
      ).toThrow()
      expect(readSettings({ ...base, [name]: 'true', AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' })).toBeTruthy()
    }
  })

  it('default to the retry schedule of the contract', () => {
    const seconds = readSettings(base).webhookRetryDelaysSeconds
    expect(seconds).toEqual([10, 60, 300, 1_800, 2, 6])
  })
})
