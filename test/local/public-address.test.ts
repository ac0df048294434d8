import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { parsePublicAddress, withoutPrefix } from '#local/public-address.ts'
import { using } from '#testkit/using.ts'
import { startFixture, temporaryFolder } from './support.ts'

describe('a public address', () => {
  test.each([
    ['https://laptop.example.com', 'https://laptop.example.com', ['laptop.example.com', 'laptop.example.com:443'], ''],
    ['https://laptop.example.com/', 'https://laptop.example.com', ['laptop.example.com', 'laptop.example.com:443'], ''],
    ['laptop.example.com', 'https://laptop.example.com', ['laptop.example.com', 'laptop.example.com:443'], ''],
    [
      ' HTTPS://Laptop.Example.com:443// ',
      'https://laptop.example.com',
      ['laptop.example.com', 'laptop.example.com:443'],
      '',
    ],
    ['laptop.example.com:8443/a/b/', 'https://laptop.example.com:8443/a/b', ['laptop.example.com:8443'], '/a/b'],
    ['http://192.168.1.5:3000', 'http://192.168.1.5:3000', ['192.168.1.5:3000'], ''],
    ['localhost:4000', 'http://localhost:4000', ['localhost:4000'], ''],
    ['http://[fd00::1]', 'http://[fd00::1]', ['[fd00::1]', '[fd00::1]:80'], ''],
  ])('given as %j is %s', (given, url, hosts, prefix) => {
    expect(parsePublicAddress('BASE_URL', given)).toEqual({ url, hosts, prefix })
  })

  test.each([
    ['', 'is not an address'],
    ['https://', 'is not an address'],
    ['https://a b', 'is not an address'],
    ['https://laptop.example.com:99999', 'is not an address'],
    ['ftp://laptop.example.com', 'has another scheme than http or https'],
    ['https://me:secret@laptop.example.com', 'contains a name or password'],
    ['https://laptop.example.com/?', 'contains a query or a fragment'],
    ['https://laptop.example.com/#/app', 'contains a query or a fragment'],
    ['https://laptop.example.com/a//b', 'has an empty segment in its path'],
  ])('is refused in one line when it is %j', (given, reason) => {
    expect(() => parsePublicAddress('BASE_URL', given)).toThrow(
      `BASE_URL ${reason}: ${given}. Give an address such as https://laptop.example.com or https://laptop.example.com/platform.`,
    )
  })

  test.each([
    ['/x/api/v1/me?a=/x', '/api/v1/me?a=/x'],
    ['/x', '/'],
    ['/x?a=b', '/?a=b'],
    ['/x/', '/'],
    ['/xy/z', '/xy/z'],
    ['/api/v1/me', '/api/v1/me'],
    ['/.well-known/oauth-authorization-server/x/connect', '/.well-known/oauth-authorization-server/connect'],
    ['/.well-known/oauth-protected-resource/x/mcp', '/.well-known/oauth-protected-resource/mcp'],
    ['/.well-known/oauth-authorization-server/x', '/.well-known/oauth-authorization-server'],
    ['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server'],
    ['/x/.well-known/jwks.json', '/.well-known/jwks.json'],
  ])('with the path /x leads %s to %s', (target, inner) => {
    expect(withoutPrefix(target, '/x')).toBe(inner)
  })
})

const running = using(
  async () => {
    const place = temporaryFolder()
    const shell = { BASE_URL: 'https://Laptop.example.com/x/' }
    return { place, platform: await startFixture(place.folder, { shell }) }
  },
  async ({ place, platform }) => {
    await platform.stop()
    place.remove()
  },
)

const ask = (path: string, host: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    request(running.platform.address + path, { headers: { host } }, async (answer) =>
      resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(await answer.toArray()).toString() }),
    )
      .once('error', reject)
      .end()
  })

describe('a platform with a public address', () => {
  test('gives it to functions and says both addresses', async () => {
    const { platform } = running
    expect(platform.baseUrl).toBe('https://laptop.example.com/x')
    expect(platform.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const environment = JSON.parse((await ask('/x/x?mode=env', 'laptop.example.com')).body)
    expect(environment.BASE_URL).toBe('https://laptop.example.com/x')
  })

  test.each(['laptop.example.com', 'LAPTOP.example.com:443', 'localhost:3000', '127.0.0.1'])(
    'answers to the host %s, below its path and without it',
    async (host) => {
      for (const path of ['/x/v1', '/v1']) {
        const { status, body } = await ask(path, host)
        expect([status, JSON.parse(body).event.path]).toEqual([200, '/v1'])
      }
    },
  )

  test.each([
    'laptop.example.com:3000',
    'other.example.com',
    'a.laptop.example.com',
    'laptop.example.com.evil.example',
  ])('refuses the host %s, and names it and the setting', async (host) => {
    const { status, body } = await ask('/x/v1', host)
    expect(status).toBe(403)
    expect(JSON.parse(body).error.message).toBe(
      `The Host of this request is “${host}”. The local platform answers to this machine and to https://laptop.example.com/x only.`,
    )
  })
})
