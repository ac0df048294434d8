import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildCliPackage } from '#ops/cli-package.ts'
import { certificate, testAuthority } from '#testkit/certificates.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { proxyFor, SilentServer, send } from '../../cli/http.ts'

const { folder, remove } = scratchFolder('networks-')
const tool = path.join(folder, 'tool/aip.js')
beforeAll(() => buildCliPackage(path.join(folder, 'tool')))
afterAll(() => remove())

const DEVELOPER = '{"id": "dev_1", "email": "ada@example.com", "sandbox_workspace": {"id": "wsp_1"}}'

const servers = new Set<Server>()
const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  servers.clear()
})

/** Starts a server, and returns its address. */
const listening = async (server: Server): Promise<string> => {
  servers.add(server)
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const answering = (listener: RequestListener) => listening(http.createServer(listener))

/** Runs the built tool. A command that never ends fails the test. */
const aip = (args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const around = { DEVELOPER_KEY: 'dvk_test', AIP_CONFIG: path.join(folder, 'config'), ...env }
    execFile(
      process.execPath,
      [tool, ...args],
      { cwd: folder, env: around, timeout: 60_000 },
      (error, stdout, stderr) =>
        resolve({ code: error ? ((error.code as number | undefined) ?? null) : 0, stdout, stderr }),
    )
  })

describe('a server that isn’t the platform is explained by where it is', () => {
  it.each<[what: string, server: () => Promise<string>, message: string, fix: string]>([
    ['nothing', async () => 'http://127.0.0.1:9', 'Nothing listens at http://127.0.0.1:9', 'npm start'],
    [
      'a page',
      () => answering((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hi')),
      'answers with a web page (HTTP 200)',
      'Another program uses this port.',
    ],
    [
      'other JSON',
      () => answering((_request, response) => response.writeHead(404).end('{"detail": "Not Found"}')),
      'something else than the platform’s API (HTTP 404)',
      'Another program uses this port.',
    ],
    [
      'a redirect',
      () =>
        answering((_request, response) => response.writeHead(308, { location: 'https://elsewhere.example/x' }).end()),
      'redirects to https://elsewhere.example/x (HTTP 308)',
      '--base-url https://elsewhere.example',
    ],
    [
      'a peer that hangs up',
      () => listening(net.createServer((socket) => socket.destroy())),
      'failed (ECONNRESET)',
      'Look at',
    ],
    [
      'a peer that speaks something else',
      () => listening(net.createServer((socket) => socket.end('SSH-2.0\r\n'))),
      'doesn’t speak http',
      'https://',
    ],
  ])('%s', async (_what, server, message, fix) => {
    const { code, stderr } = await aip(['whoami', '--base-url', await server()])
    expect(stderr).toContain(message)
    expect(stderr).toContain(fix)
    expect([code, stderr.includes('    at ')]).toEqual([1, false])
  })

  it('a name that doesn’t exist isn’t “npm start”', async () => {
    const { stderr } = await aip(['whoami', '--base-url', 'https://platform.invalid'])
    expect(stderr).toContain('can’t be found')
    expect(stderr).not.toContain('npm start')
  })

  it('a silent server ends a call at its time limit', async () => {
    const url = await listening(net.createServer(() => {}))
    await expect(send(`${url}/`, { timeout: 50 })).rejects.toThrow(SilentServer)
    const half = await answering((_request, response) => response.writeHead(200).write('{'))
    const response = await send(`${half}/`, { timeout: 200 })
    await expect(response.text()).rejects.toThrow()
  })
})

describe('a proxy', () => {
  /** A proxy that forwards everything to one address, and remembers what it was asked for. */
  const proxied = async (to: string) => {
    const asked: string[] = []
    const proxy = http.createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`)
      http.get(to, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers)))
    })
    proxy.on('connect', (request, socket: Socket) => {
      asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`)
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
    return { url: await listening(proxy), asked }
  }
  const developer = () => answering((_request, response) => response.end(DEVELOPER))

  it('of HTTP_PROXY is asked for the platform, with its credentials', async () => {
    const { url, asked } = await proxied(await developer())
    const proxy = url.replace('//', '//ada:p%40ss@')
    const { code, stdout } = await aip(['whoami', '--base-url', 'http://platform.invalid'], { http_proxy: proxy })
    expect([code, stdout.includes('ada@example.com')]).toEqual([0, true])
    expect(asked).toEqual([`GET http://platform.invalid/api/v1/dev/me Basic ${btoa('ada:p@ss')}`])
  })

  it('of HTTPS_PROXY is asked for a tunnel, and what it refuses is explained', async () => {
    const { url, asked } = await proxied('http://127.0.0.1:9')
    const { code, stderr } = await aip(['whoami', '--base-url', 'https://platform.invalid'], { HTTPS_PROXY: url })
    expect([code, asked[0]]).toEqual([1, 'CONNECT platform.invalid:443 undefined'])
    expect(stderr).toContain('through the proxy 127.0.0.1')
    expect(stderr).toContain('HTTP 403')
  })

  it('of HTTPS_PROXY carries TLS to the platform, whose certificate is checked by its own name', async () => {
    const [authority, { cert, key }] = await Promise.all([testAuthority(), certificate('wrong-host')])
    const ca = path.join(folder, 'authority.pem')
    writeFileSync(ca, authority.cert)
    const platform = https.createServer({ cert, key }, (_request, response) => response.end(DEVELOPER))
    const { port } = new URL(await listening(platform))
    const proxy = http.createServer()
    proxy.on('connect', (_request, socket: Socket) => {
      const there = net.connect(Number(port), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
      there
        .on('error', () => {})
        .pipe(socket.on('error', () => {}))
        .pipe(there)
    })
    const env = { HTTPS_PROXY: await listening(proxy), NODE_EXTRA_CA_CERTS: ca }
    const { code, stdout } = await aip(['whoami', '--base-url', 'https://elsewhere.example.com'], env)
    expect([code, stdout.includes('ada@example.com')]).toEqual([0, true])
    const wrong = await aip(['whoami', '--base-url', 'https://other.example.com'], env)
    expect([wrong.code, wrong.stderr.includes('certificate')]).toEqual([1, true])
  })

  it.each([
    ['https://a.example', { HTTPS_PROXY: 'http://p:1' }, 'p:1'],
    ['https://a.example', { https_proxy: 'p:1' }, 'p:1'],
    ['http://a.example', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['http://a.example', { ALL_PROXY: 'http://p:1' }, 'p:1'],
    ['https://a.example', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'b.example, .example' }, undefined],
    ['https://a.example', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'ample' }, 'p:1'],
    ['https://a.example:8443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.example:443' }, 'p:1'],
    ['https://a.example', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined],
    ['http://127.0.0.1:3000', { HTTP_PROXY: 'http://p:1', ALL_PROXY: 'http://p:1' }, undefined],
    ['http://localhost:3000', { HTTP_PROXY: 'http://p:1' }, undefined],
    ['http://[::1]:3000', { HTTP_PROXY: 'http://p:1' }, undefined],
  ])('for %s with %j is %s', (url, env, host) => {
    expect(proxyFor(new URL(url), env)?.host).toBe(host)
  })
})

describe('a command line', () => {
  it('may have options before the command', async () => {
    const server = await answering((_request, response) => response.end(DEVELOPER))
    for (const args of [
      ['--json', '--base-url', server, 'whoami'],
      [`--base-url=${server}`, 'whoami', '--json'],
    ]) {
      const { code, stdout } = await aip(args)
      expect([code, JSON.parse(stdout).developer.id]).toEqual([0, 'dev_1'])
    }
    expect((await aip(['--help', 'apps', 'show'])).stdout).toContain('Usage: aip apps show')
    const unknown = await aip(['--nope', 'whoami'])
    expect([unknown.code, unknown.stderr.includes('Unknown option: "--nope"')]).toEqual([2, true])
  })

  it('with an unknown profile says which ones there are, and asks nobody', async () => {
    mkdirSync(path.join(folder, 'profiles'))
    const profile = { base_url: 'http://127.0.0.1:9', key: 'dvk', email: 'a@example.com', expires_at: null }
    const file = { version: 1, current: 'work', profiles: { work: profile } }
    writeFileSync(path.join(folder, 'profiles/profiles.json'), JSON.stringify(file))
    const env = { AIP_CONFIG: path.join(folder, 'profiles'), DEVELOPER_KEY: '' }
    for (const [args, more] of [
      [['whoami', '--profile', 'wrok'], {}],
      [['whoami'], { AIP_PROFILE: 'wrok' }],
    ] as const) {
      const { code, stderr } = await aip([...args], { ...env, ...more })
      expect([code, stderr.includes('There is no profile "wrok". There are: work.')]).toEqual([2, true])
    }
  })

  it.each(['--help', 'completion bash'])(
    'whose reader stops after a line ends quietly: aip %s | head -1',
    async (args) => {
      const child = spawn(process.execPath, [tool, ...args.split(' ')], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
      child.stdout.destroy()
      let stderr = ''
      child.stderr.on('data', (piece) => (stderr += piece))
      const [code] = await once(child, 'close')
      expect([code, stderr]).toEqual([0, ''])
    },
  )
})
