import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkUrl } from '#shared/adapters/outgoing-http/targets.ts'

const STRICT = { allowLoopbackHttp: false }
const LOCAL = { allowLoopbackHttp: true }

/** Notations of an IPv4 address in a URL's host, all of which WHATWG URL §3.5 accepts. */
const SPELLINGS: Record<string, (parts: [number, number, number, number]) => string> = {
  dotted: (p) => p.join('.'),
  'dotted with a dot at the end': (p) => `${p.join('.')}.`,
  decimal: ([a, b, c, d]) => String(((a * 256 + b) * 256 + c) * 256 + d),
  hexadecimal: ([a, b, c, d]) => `0x${(((a * 256 + b) * 256 + c) * 256 + d).toString(16)}`,
  octal: ([a, b, c, d]) => `0${(((a * 256 + b) * 256 + c) * 256 + d).toString(8)}`,
  'octal parts': (p) => p.map((n) => `0${n.toString(8)}`).join('.'),
  'padded octal parts': (p) => p.map((n) => `000${n.toString(8)}`).join('.'),
  'hexadecimal parts': (p) => p.map((n) => `0x${n.toString(16)}`).join('.'),
  'upper-case hexadecimal parts': (p) => p.map((n) => `0X${n.toString(16).toUpperCase()}`).join('.'),
  'two parts': ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  'three parts': ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  mixed: ([a, b, c, d]) => `0x${a.toString(16)}.0${b.toString(8)}.${c * 256 + d}`,
  'percent-encoded': (p) => [...p.join('.')].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
  'full-width': (p) =>
    [...p.join('.')].map((c) => (c === '.' ? '．' : String.fromCharCode(c.charCodeAt(0) + 0xfee0))).join(''),
  'ideographic dots': (p) => p.join('。'),
  'in brackets, mapped': (p) => `[::ffff:${p.join('.')}]`,
  'in brackets, compatible': (p) => `[::${p.join('.')}]`,
  'in brackets, NAT64': (p) => `[64:ff9b::${p.join('.')}]`,
}

const FORBIDDEN: [number, number, number, number][] = [
  [127, 0, 0, 1],
  [127, 255, 255, 254],
  [0, 0, 0, 0],
  [10, 0, 0, 1],
  [100, 64, 0, 1],
  [169, 254, 169, 254],
  [172, 16, 0, 1],
  [172, 31, 255, 255],
  [192, 0, 0, 8],
  [192, 0, 2, 1],
  [192, 88, 99, 1],
  [192, 168, 1, 1],
  [198, 18, 0, 1],
  [198, 51, 100, 1],
  [203, 0, 113, 1],
  [224, 0, 0, 1],
  [240, 0, 0, 1],
  [255, 255, 255, 255],
]

describe('an address in any notation is judged by its meaning', () => {
  for (const [name, spell] of Object.entries(SPELLINGS)) {
    test.each(FORBIDDEN.map((parts) => spell(parts)))(`${name}: https://%s/ is refused`, (host) => {
      expect(checkUrl(`https://${host}/`, STRICT).ok).toBe(false)
      expect(checkUrl(`https://${host}:8443/path?q#f`, STRICT).ok).toBe(false)
      expect(checkUrl(`http://${host}/`, STRICT).ok).toBe(false)
    })
  }

  test('a public one is allowed in any notation', () => {
    const octet = fc.integer({ min: 0, max: 255 })
    const plain = Object.entries(SPELLINGS).filter(([name]) => !name.startsWith('in brackets'))
    fc.assert(
      fc.property(fc.constantFrom(...plain), octet, octet, octet, ([, spell], b, c, d) => {
        const verdict = checkUrl(`https://${spell([8, b, c, d])}/`, STRICT)
        expect(verdict).toMatchObject({ ok: true, url: { hostname: `8.${b}.${c}.${d}` } })
      }),
    )
  })
})

const REFUSED = [
  // schemes
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/plain,x',
  'javascript:alert(1)',
  'ws://example.com/',
  'wss://example.com/',
  'unix:/var/run/docker.sock',
  '//example.com/',
  'example.com',
  '',
  'https://',
  'https:///',
  // credentials
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://:password@example.com/',
  'https://example.com:secret@127.0.0.1/',
  'https://%75ser@example.com/',
  // names of the machine and the local network
  'https://localhost./',
  'https://localhost。/',
  'https://app.localhost/',
  'https://a.b.localhost/',
  'https://localhost.localdomain/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://ip-10-0-0-1.ec2.internal/',
  'https://host.docker.internal/',
  'https://router.home.arpa/',
  'https://nas.lan/',
  'https://wiki.corp/',
  'https://intranet/',
  'https://db/',
  'https://com/',
  // malformed names
  'https://example.com./',
  'https://example.com../',
  'https://./',
  'https://a..b.com/',
  'https://.example.com/',
  `https://${'a'.repeat(64)}.com/`,
  `https://${'abcdefghi.'.repeat(26)}com/`,
  'https://exa mple.com/',
  'https://exa%00mple.com/',
  'https://exa%0ample.com/',
  'https://exa\nmple.com/',
  ' https://example.com/',
  'https://example.com/\t',
  'https://example.com/a\r\nHost: evil',
  'https://example.com/a b',
  'https://example.com:99999/',
  'https://1.2.3.4.5/',
  'https://256.1.1.1/',
  'https://0x/',
  'https://10.0.0.0x/',
  // IPv6
  'https://[::]/',
  'https://[::7f00:1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::FFFF:127.0.0.1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b::8.8.8.8]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:a00:1::1]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[3fff::1]/',
  'https://[5f00::1]/',
  'https://[100::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fe80::1%eth0]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[v1.fe80::a]/',
  'https://[127.0.0.1]/',
  'https://::1/',
]

const ALLOWED = [
  'https://example.com',
  'https://example.com/hooks?x=1#y',
  'https://EXAMPLE.com:8443/',
  'https://hooks.example.co.uk:22/',
  'https://sub_domain.example.com/',
  'https://xn--r8jz45g.xn--zckzah/',
  'https://bücher.example/',
  'https://1.1.1.1/',
  'https://8.8.8.8:8443/',
  'https://[2606:4700:4700::1111]/',
  'https://[2606:4700:4700:0:0:0:0:1111]:8443/x',
  'https://127.0.0.1.example.com/',
  'https://localhost.example.com/',
  'https://example.com/http://127.0.0.1/',
  'https://example.com/?next=user@host',
  `https://${'a'.repeat(63)}.com/`,
]

describe('checkUrl', () => {
  test.each(REFUSED)('%j is refused with a reason', (url) => {
    const verdict = checkUrl(url, STRICT)
    expect(verdict).toMatchObject({ ok: false, reason: expect.stringMatching(/^[A-Z].*\.$/) })
  })

  test.each(ALLOWED)('%j is allowed', (url) => {
    expect(checkUrl(url, STRICT)).toMatchObject({ ok: true })
    expect(checkUrl(url, LOCAL)).toMatchObject({ ok: true })
  })

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((s) => `https://${s}`),
        ),
        (text) => {
          checkUrl(text, STRICT)
          checkUrl(text, LOCAL)
        },
      ),
    )
  })
})

const OPENED = [
  'http://localhost:3000/x',
  'http://127.0.0.1:3000/',
  'http://127.1.2.3/',
  'http://0x7f000001:3000/',
  'http://[::1]:3000/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost:8443/',
  'https://%6cocalhost/',
  'https://ｌｏｃａｌｈｏｓｔ/',
  'https://loc\u00adalhost/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[0000:0000:0000:0000:0000:0000:0000:0001]/',
  'https://127.0.0.1/',
]

describe('with the switch for local development', () => {
  test.each(OPENED)('%s is allowed, and only then', (url) => {
    expect(checkUrl(url, LOCAL)).toMatchObject({ ok: true })
    expect(checkUrl(url, STRICT)).toMatchObject({ ok: false })
  })

  test.each([
    ...REFUSED,
    'http://user@localhost/',
    'ftp://localhost/',
    'http://localhost.:3000/',
    'http://app.localhost/',
    'http://0.0.0.0:3000/',
    'http://[::ffff:127.0.0.1]:3000/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://8.8.8.8/',
  ])('%j is still refused', (url) => expect(checkUrl(url, LOCAL).ok).toBe(false))
})
