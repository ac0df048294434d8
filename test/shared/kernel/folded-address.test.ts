import { describe, expect, it } from 'vitest'
import { originIn, placeIn } from '#shared/kernel/folded-address.ts'

describe('the origin of an address', () => {
  it.each([
    ['https://hooks.example.com/in?a#b', 'https://hooks.example.com'],
    ['HTTPS://Hooks.Example.COM', 'https://hooks.example.com'],
    ['https://hooks.example.com:443/', 'https://hooks.example.com'],
    ['https://hooks.example.com:8443/', 'https://hooks.example.com:8443'],
    ['https://hooks.example.com./', 'https://hooks.example.com'],
    ['https://hooks.example.com.:443/', 'https://hooks.example.com'],
    ['https://hooks.ex%61mple.com/', 'https://hooks.example.com'],
    ['http://127.0.0.1.:80/', 'http://127.0.0.1'],
    ['http://[0:0::1]:3000/', 'http://[::1]:3000'],
  ])('%s is at %s', (url, origin) => expect(originIn(url)).toBe(origin))
})

describe('the place of an address', () => {
  const hook = 'https://example.com/hook/a b'
  it.each([
    'https://example.com/hook/a%20b?again',
    'https://example.com/hook/a%20b#again',
    'https://example.com:443/%68ook/a%20b',
    'https://EXAMPLE.com./hook//a%20b/',
    'https://example.com/x/../hook/./a%20b',
    'https://example.com/%2e/hook%2fa%20b',
  ])('%s is the same', (url) => expect(placeIn(url)).toBe(placeIn(hook)))

  it.each(['https://example.com/', 'https://example.com/Hook/a%20b', 'https://example.com/hook/a%2520b'])(
    '%s is another',
    (url) => expect(placeIn(url)).not.toBe(placeIn(hook)),
  )

  it('takes broken escapes as they are', () =>
    expect(placeIn('https://example.com/%zz%')).toBe('https://example.com/%zz%'))
})
