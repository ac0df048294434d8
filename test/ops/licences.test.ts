import { describe, expect, it } from 'vitest'
import { findUnlicensed, isAllowed } from '#ops/licences/check.ts'

const locked = (license?: string, more: object = {}) => ({ version: '1.0.0', ...(license && { license }), ...more })

describe('the licence check', () => {
  it('names packages under a copyleft licence, an unknown one, or none', () => {
    const found = findUnlicensed({
      '': locked('Apache-2.0'),
      'node_modules/a': locked('MIT'),
      'node_modules/b': locked('GPL-3.0-only'),
      'node_modules/a/node_modules/@c/d': locked('SEE LICENSE IN LICENSE.md'),
      'node_modules/e': locked(),
    })
    expect(found).toEqual([
      'b 1.0.0: GPL-3.0-only',
      '@c/d 1.0.0: SEE LICENSE IN LICENSE.md',
      'e 1.0.0: states no licence',
    ])
  })

  it('accepts a choice if one of its licences is allowed, and a combination if all are', () => {
    expect(isAllowed('(MIT OR GPL-3.0-or-later)')).toBe(true)
    expect(isAllowed('MIT AND GPL-3.0-or-later')).toBe(false)
    expect(isAllowed('MIT AND ISC')).toBe(true)
  })

  it('allows other licences only for tools that it names', () => {
    expect(findUnlicensed({ 'node_modules/axe-core': locked('MPL-2.0') })).toEqual([])
    expect(findUnlicensed({ 'node_modules/axe': locked('MPL-2.0') })).toHaveLength(1)
  })

  it('takes the licence of the installed build for builds for other platforms, of the same version only', () => {
    const builds = (version: string) => ({
      'node_modules/@one/linux-x64': locked('MIT', { os: ['linux'] }),
      'node_modules/@one/darwin-x64': locked(undefined, { os: ['darwin'], version }),
    })
    expect(findUnlicensed(builds('1.0.0'))).toEqual([])
    expect(findUnlicensed(builds('2.0.0'))).toEqual(['@one/darwin-x64 2.0.0: states no licence'])
  })

  it('asks the installed package where the lock file is silent', () => {
    expect(findUnlicensed({ 'node_modules/e': locked() }, () => 'MIT')).toEqual([])
  })
})
