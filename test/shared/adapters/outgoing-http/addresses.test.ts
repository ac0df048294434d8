import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { isLoopbackAddress, isPublicAddress } from '#shared/adapters/outgoing-http/addresses.ts'

/** Every block of IANA's IPv4 special-purpose registry, multicast and the former class E. */
const SPECIAL_V4 = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link local, cloud metadata among it'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'IETF protocol assignments'],
  ['192.0.2.0/24', 'documentation 1'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relays'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation 2'],
  ['203.0.113.0/24', 'documentation 3'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['255.255.255.255/32', 'broadcast'],
] as const

/**
 * Every block of IANA's IPv6 special-purpose registry, and the parts of the address space that aren't global unicast.
 */
const SPECIAL_V6 = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  ['::ffff:0:0:0/96', 'IPv4-translated (SIIT)'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64 for local use'],
  ['100::/64', 'discard only'],
  ['100:0:0:1::/64', 'dummy prefix'],
  ['2001::/23', 'IETF protocol assignments'],
  ['2001::/32', 'Teredo'],
  ['2001:1::1/128', 'port control anycast'],
  ['2001:1::2/128', 'TURN anycast'],
  ['2001:1::3/128', 'DNS-SD registration anycast'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:3::/32', 'AMT'],
  ['2001:4:112::/48', 'AS112'],
  ['2001:10::/28', 'ORCHID'],
  ['2001:20::/28', 'ORCHID v2'],
  ['2001:30::/28', 'drone remote id'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3ffe::/16', 'former 6bone'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link local'],
  ['fec0::/10', 'site local'],
  ['ff00::/8', 'multicast'],
  ['4000::/3', 'unassigned'],
  ['6000::/3', 'unassigned'],
  ['8000::/3', 'unassigned'],
  ['a000::/3', 'unassigned'],
  ['c000::/3', 'unassigned'],
  ['e000::/4', 'unassigned'],
  ['200::/7', 'former NSAP'],
] as const

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.88.98.255',
  '192.88.100.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
  '2600:1f18::1',
]

const bits = (bytes: number[]): bigint => bytes.reduce((all, byte) => (all << 8n) | BigInt(byte), 0n)

const toAddress = (value: bigint, width: 32 | 128): string => {
  const bytes = Array.from({ length: width / 8 }, (_, i) => Number((value >> BigInt(width - 8 - i * 8)) & 0xffn))
  return ipaddr.fromByteArray(bytes).toString()
}

/** Lists the first and last address of a block, and some in between. */
const within = (cidr: string): fc.Arbitrary<string> => {
  const [network, prefix] = ipaddr.parseCIDR(cidr)
  const width = network.kind() === 'ipv4' ? 32 : 128
  const size = 1n << BigInt(width - prefix)
  const first = (bits(network.toByteArray()) / size) * size
  const offset = fc.oneof(fc.constantFrom(0n, size - 1n), fc.bigInt({ min: 0n, max: size - 1n }))
  return offset.map((o) => toAddress(first + o, width))
}

const privateV4 = fc.constantFrom(...SPECIAL_V4.map(([cidr]) => cidr)).chain(within)
const anyV4 = fc.oneof(privateV4, fc.ipV4())

const words = (v4: string): [string, string] => {
  const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number)
  return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)]
}
const inverted = (v4: string) =>
  words(
    v4
      .split('.')
      .map((part) => 255 - Number(part))
      .join('.'),
  )

/** Every standard way to embed an IPv4 address in an IPv6 one. */
const EMBEDDINGS: Record<string, (v4: string) => string> = {
  'mapped, dotted': (v4) => `::ffff:${v4}`,
  mapped: (v4) => `::ffff:${words(v4).join(':')}`,
  'mapped, written out': (v4) => `0:0:0:0:0:FFFF:${words(v4).join(':')}`,
  'compatible, dotted': (v4) => `::${v4}`,
  compatible: (v4) => `0:0:0:0:0:0:${words(v4).join(':')}`,
  SIIT: (v4) => `::ffff:0:${words(v4).join(':')}`,
  'NAT64 /96, dotted': (v4) => `64:ff9b::${v4}`,
  'NAT64 /96': (v4) => `64:ff9b::${words(v4).join(':')}`,
  'NAT64 local /96': (v4) => `64:ff9b:1:abcd:0:0:${words(v4).join(':')}`,
  'NAT64 local /48': (v4) => `64:ff9b:1:${words(v4)[0]}:${Number.parseInt(words(v4)[1], 16) >> 8}::`,
  '6to4': (v4) => `2002:${words(v4).join(':')}::1`,
  'Teredo server': (v4) => `2001:0:${words(v4).join(':')}::1`,
  'Teredo client': (v4) => `2001:0:808:808:0:0:${inverted(v4).join(':')}`,
  ISATAP: (v4) => `2a00:1450:4001:82a:0:5efe:${words(v4).join(':')}`,
  'ISATAP, global bit': (v4) => `2a00:1450:4001:82a:200:5efe:${words(v4).join(':')}`,
}

describe('isPublicAddress', () => {
  test.each(PUBLIC)('%s is public', (ip) => expect(isPublicAddress(ip)).toBe(true))

  test.each([...SPECIAL_V4, ...SPECIAL_V6])('no address of %s (%s) is public', (cidr) => {
    fc.assert(fc.property(within(cidr), (ip) => !isPublicAddress(ip)))
  })

  test.each(Object.entries(EMBEDDINGS))('an IPv4 address embedded as %s is never public', (_, embed) => {
    fc.assert(
      fc.property(anyV4, (v4) => !isPublicAddress(embed(v4))),
      {
        examples: [['127.0.0.1'], ['169.254.169.254'], ['10.0.0.1'], ['0.0.0.0']],
      },
    )
  })

  test('outside 2000::/3 no IPv6 address is public', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => {
        const ip = toAddress(value, 128)
        return value >> 125n === 1n || !isPublicAddress(ip)
      }),
    )
  })

  test('any IPv4 address outside the blocks above is public', () => {
    const blocks = SPECIAL_V4.map(([cidr]) => ipaddr.IPv4.parseCIDR(cidr))
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        const address = ipaddr.IPv4.parse(ip)
        return isPublicAddress(ip) === !blocks.some((block) => address.match(block))
      }),
    )
  })

  test.each([
    '',
    'example.com',
    'localhost',
    '8.8.8',
    '8.8',
    '134744072',
    '0x08080808',
    '010.8.8.8',
    '08.8.8.8',
    '0x8.8.8.8',
    '8.8.8.8.',
    ' 8.8.8.8',
    '8.8.8.8\n',
    '8.8.8.8/32',
    '[2606:4700:4700::1111]',
    '2606:4700:4700::1111%eth0',
    'fe80::1%1',
    '2606:4700:4700:::1111',
    '12345::1',
  ])('%j is not an address in canonical form, and is refused', (text) => expect(isPublicAddress(text)).toBe(false))
})

describe('isLoopbackAddress', () => {
  test.each(['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'])('%s is', (ip) =>
    expect(isLoopbackAddress(ip)).toBe(true),
  )
  test.each(['0.0.0.0', '::', '::ffff:127.0.0.1', '::7f00:1', '128.0.0.1', 'localhost', '::1%lo', '127.1'])(
    '%s is not',
    (ip) => expect(isLoopbackAddress(ip)).toBe(false),
  )
})
