import { randomUUID } from 'node:crypto'
import dns from 'node:dns'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { dataMessage } from '#examples/demo/a2a-agents.ts'
import { freePort } from '#local/free-port.ts'
import { type Certificate, certificate, testAuthority } from '#testkit/certificates.ts'
import { json } from '#testkit/receiver.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { using, usingReceiver } from '#testkit/using.ts'
import { createApi } from '../../cli/api.ts'
import { type Agent, must, newAgent, sandboxToken, send, startLocal, until } from './support.ts'

/** Public name of the proxy. It leads to this machine as long as {@link usingPublicName} is in use. */
export const PUBLIC_HOST = 'laptop.example.com'

/** A reverse proxy that ends TLS. It passes `Host` and path unchanged, and nothing outside `prefix` but metadata. */
export interface ProxyOptions {
  port: number
  /** Address of the platform. */
  upstream: string
  prefix: string
  tls: Certificate
  /** Folder for the proxy's own files. */
  folder: string
}
export type StartProxy = (options: ProxyOptions) => Promise<{ close(): Promise<unknown> }>

/** Lets clients of this process find {@link PUBLIC_HOST} and trust its certificate. */
const publicName = async () => {
  const { lookup } = dns
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, (await testAuthority()).cert])
  const found = (host: string, ...rest: unknown[]): void => {
    const done = rest.at(-1) as (...result: unknown[]) => void
    const { all } = (rest[0] ?? {}) as { all?: boolean }
    if (host !== PUBLIC_HOST) Reflect.apply(lookup, dns, [host, ...rest])
    else if (all) process.nextTick(done, null, [{ address: '127.0.0.1', family: 4 }])
    else process.nextTick(done, null, '127.0.0.1', 4)
  }
  dns.lookup = found as typeof dns.lookup
  return () => {
    dns.lookup = lookup
    setDefaultCACertificates(trusted)
  }
}

/** Starts the platform with a public address behind a proxy, for the tests of a file. */
const usingProxied = (startProxy: StartProxy, prefix: string) =>
  using(
    async () => {
      const place = scratchFolder('proxied-')
      const forget = await publicName()
      const port = await freePort()
      const url = `https://${PUBLIC_HOST}:${port}${prefix}`
      // With a slash at the end, which people copy along.
      const local = await startLocal({ dataDir: `${place.folder}/data`, shell: { BASE_URL: `${url}/` } })
      const tls = await certificate('valid', PUBLIC_HOST)
      const { folder } = place
      const proxy = await startProxy({ port, upstream: local.platform.address, prefix, tls, folder })
      return { url, local, proxy, forget, place }
    },
    async ({ local, proxy, forget, place }) => {
      await proxy.close()
      await local.stop()
      forget()
      place.remove()
    },
  )

const REDIRECT = 'http://127.0.0.1:9/callback'
const SCOPES = ['workspace:read', 'agents:read', 'runs:read', 'runs:write', 'files:read', 'files:write']

interface Person {
  token: string
}

/** Opens the consent link as a browser does, and approves on the page. @returns where the browser is sent back to */
const approve = async (url: string, authorize: URL, issuer: 'oauth' | 'connect', { token }: Person, more: object) => {
  const { headers } = await send('', 'GET', authorize.href)
  const consent = new URL(headers.get('location') ?? '')
  expect(consent.href.startsWith(`${url}/${issuer}/consent`)).toBe(true)
  const page = await send('', 'GET', consent.href)
  expect([page.status, page.headers.get('strict-transport-security')]).toEqual([200, null])
  const tg = consent.searchParams.get('tg')
  const asked = await must(url, 'GET', `/${issuer}/consent/request?tg=${tg}`, { token })
  const scopes = asked.scopes.map(({ scope }: { scope: string }) => scope)
  const body = { tg, decision: 'approve', ...(issuer === 'connect' && { scopes }), ...more }
  return new URL((await must(url, 'POST', `/${issuer}/consent/decision`, { token, body })).redirect_to)
}

/** Declares the tests of everything that a browser, an agent or a client does through a proxy. */
export const worksBehind = (name: string, startProxy: StartProxy, prefix: string): void => {
  describe(`behind ${name}${prefix && ` below ${prefix}`}`, () => {
    const running = usingProxied(startProxy, prefix)
    const receiver = usingReceiver()
    const signIn = (workspace: string): Promise<Person> =>
      must(running.url, 'POST', '/console/session', { body: { user: randomUUID(), workspace, role: 'owner' } })
    const agentOf = async () => {
      const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }]
      const agent = await newAgent(running.url, {
        endpoint: receiver.url,
        redirectUri: REDIRECT,
        scopes: SCOPES,
        tools,
      })
      return { ...agent, token: await sandboxToken(running.url, agent) }
    }

    it('pages load what they name, and people sign in', async () => {
      const page = await send(running.url, 'GET', '/app')
      expect([page.status, page.headers.get('strict-transport-security')]).toEqual([200, null])
      const assets = [...page.text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, at = '']) => at)
      expect(assets.length).toBeGreaterThan(0)
      for (const asset of assets) {
        const { status } = await send('', 'GET', new URL(asset, `${running.url}/app`).href)
        expect([asset, status]).toEqual([asset, 200])
      }
      const { token } = await signIn(randomUUID())
      expect((await must(running.url, 'GET', '/console/me', { token })).user).toBeDefined()
    })

    it('a developer signs in by the link in the mailbox', async () => {
      const email = `${randomUUID()}@example.com`
      await must(running.url, 'POST', '/api/v1/dev/register', { body: { email, name: 'Ada' } })
      await must(running.url, 'POST', '/api/v1/dev/sign-in', { body: { email } })
      const link = await until(async () => {
        const page = await send(running.url, 'GET', '/local/mailbox')
        return new RegExp(`${running.url}/developers#/sign-in/(\\S+)`).exec(page.text)?.[0]
      })
      expect((await send('', 'GET', link)).status).toBe(200)
    })

    it('people write to the bot in the messenger, and other origins can’t', async () => {
      const { messenger } = running.local.platform
      const page = await send('', 'GET', messenger)
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('@local_platform_bot')])
      const write = (headers: Record<string, string>) =>
        send('', 'POST', new URL('messenger/messages', messenger).href, {
          headers,
          body: { name: 'Ada', text: '/start' },
        })
      const { origin } = new URL(running.url)
      expect((await write({ origin: 'https://evil.example' })).status).toBe(403)
      expect((await write({ origin, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
      const { telegram } = running.local.platform
      await telegram.settled()
      expect(telegram.chat(telegram.person({ first_name: 'Ada' })).length).toBeGreaterThan(1)
    })

    it('an app discovers the issuer, gets a consent, and exchanges the code', async () => {
      const { app, sandboxId } = await agentOf()
      const { client_id, client_secret } = app
      const issuer = new URL(`${running.url}/connect`)
      const found = await openid.discovery(issuer, client_id, undefined, openid.ClientSecretBasic(client_secret), {
        algorithm: 'oauth2',
      })
      expect(found.serverMetadata().issuer).toBe(issuer.href)
      const verifier = openid.randomPKCECodeVerifier()
      const authorize = openid.buildAuthorizationUrl(found, {
        redirect_uri: REDIRECT,
        scope: 'workspace:read',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: 'state',
      })
      const back = await approve(running.url, authorize, 'oauth', await signIn(sandboxId), { workspace_id: sandboxId })
      const checks = { pkceCodeVerifier: verifier, expectedState: 'state' }
      const { access_token } = await openid.authorizationCodeGrant(found, back, checks)
      expect((await must(running.url, 'GET', '/api/v1/me', { token: access_token })).installation).toBeDefined()
    })

    it('the official MCP client discovers, signs in, and lists', async () => {
      const { sandboxId } = await agentOf()
      const person = await signIn(sandboxId)
      // biome-ignore lint/suspicious/noExplicitAny: the SDK decides what it keeps
      const kept: Record<string, any> = {}
      const provider = {
        redirectUrl: REDIRECT,
        clientMetadata: { client_name: 'Assistant', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' },
        clientInformation: () => kept.client,
        saveClientInformation: (client: object) => void Object.assign(kept, { client }),
        tokens: () => kept.tokens,
        saveTokens: (tokens: object) => void Object.assign(kept, { tokens }),
        redirectToAuthorization: (asked: URL) => void Object.assign(kept, { asked }),
        saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
        codeVerifier: () => kept.verifier,
      }
      const connect = async () => {
        const client = new Client({ name: 'Assistant', version: '1.0.0' })
        const transport = new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), { authProvider: provider })
        return { client, transport, error: await client.connect(transport).catch((error: unknown) => error) }
      }
      const first = await connect()
      expect(first.error).toBeInstanceOf(UnauthorizedError)
      const back = await approve(running.url, kept.asked, 'connect', person, {})
      await first.transport.finishAuth(back.searchParams)
      const { client, error } = await connect()
      expect(error).toBeUndefined()
      expect((await client.listTools()).tools.map(({ name: tool }) => tool)).toContain('workspace_info')
      await client.close()
    })

    /** Installs a client of the agent in its developer's sandbox. @returns its access token */
    const clientOf = async ({ app: agent, headers }: Agent): Promise<string> => {
      const slug = `client-of-${agent.slug}`
      const apps = (to: string, body?: object) =>
        must(running.url, 'POST', `/api/v1/dev/apps${to}`, { headers, ...(body && { body }) })
      const app = await apps('', { slug, name: 'Client', type: 'agent', requested_scopes: SCOPES })
      const runtime = { type: 'webhook', endpoint: receiver.url }
      const id = `${agent.slug.replace('agent', 'vendor')}.${slug}`
      await apps(`/${app.id}/versions`, { id, version: '1.0.0', name: 'Client', summary: 'A client.', runtime })
      await apps(`/${app.id}/versions/1.0.0/promote`)
      return (await apps(`/${app.id}/sandbox-token`)).access_token
    }

    it('the official A2A client reads the card and streams a task', async () => {
      const agent = await agentOf()
      const token = await clientOf(agent)
      receiver.answer(() => json({ status: 'succeeded', output: { found: 3 } }))
      const { installation } = await must(running.url, 'GET', '/api/v1/me', { token: agent.token })
      const fetchImpl: typeof fetch = (to, init) => {
        const headers = new Headers(init?.headers)
        headers.set('authorization', `Bearer ${token}`)
        return fetch(to, { ...init, headers })
      }
      const client = await new ClientFactory({
        transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
      }).createFromUrl(`${running.url}/a2a/agents/${installation.id}/`)
      const message = dataMessage({ skill: 'look', arguments: {} })
      const events = []
      for await (const { payload } of client.sendMessageStream({
        tenant: '',
        metadata: undefined,
        message,
        configuration: undefined,
      }))
        events.push(payload?.$case)
      expect(events[0]).toBe('task')
      expect(events).toContain('artifactUpdate')
    })

    it('a file is uploaded and downloaded by its signed addresses', async () => {
      const { token } = await agentOf()
      const content = new Uint8Array(3 * 1_048_576).map((_, i) => i % 251)
      const file = { name: 'a b.html', content_type: 'text/html', size: content.length }
      const { id, upload } = await must(running.url, 'POST', '/api/v1/files', { token, body: file })
      expect(upload.url.startsWith(`${running.url}/local/objects/`)).toBe(true)
      const put = (address: string) => fetch(address, { method: 'PUT', headers: upload.headers, body: content })
      expect((await put(upload.url.replace('X-Amz-Expires=900', 'X-Amz-Expires=9000'))).status).toBe(403)
      expect((await put(upload.url)).status).toBe(200)
      const { download_url } = await must(running.url, 'GET', `/api/v1/files/${id}`, { token })
      const got = await fetch(download_url)
      expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true)
      // On the console's origin, a file's scripts must not run.
      expect(got.headers.get('content-security-policy')).toBe('sandbox')
      expect((await fetch(download_url.split('?')[0])).status).toBe(403)
    })

    it('a live connection brings changes', async () => {
      const { token } = await signIn(randomUUID())
      const page = await send(running.url, 'GET', '/app')
      const live = /data-live="([^"]+)"/.exec(page.text)?.[1] ?? ''
      expect(live).toBe(`${running.url.replace('https', 'wss')}/live`)
      const socket = new WebSocket(live, { origin: new URL(running.url).origin })
      const messages: string[] = []
      socket.on('message', (data) => messages.push(data.toString()))
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
      socket.send(JSON.stringify({ type: 'hello', token }))
      await until(() => messages[0])
      const count = messages.length
      await must(running.url, 'POST', '/console/tasks', { token, body: { title: 'Count the stock' } })
      await until(() => messages[count])
      socket.terminate()
    })

    it('another host gets words that name it and the setting, which aip repeats', async () => {
      // The platform's own port isn't part of its public address.
      const { port } = new URL(running.local.platform.address)
      const host = `${PUBLIC_HOST}:${port}`
      const error = await createApi({ baseUrl: `http://${host}`, key: undefined })
        .call('GET', '/oauth/scopes')
        .catch((one) => one)
      expect(error).toMatchObject({
        status: 403,
        message: `The Host of this request is “${host}”. The local platform answers to this machine and to ${running.url} only.`,
        fix: expect.stringContaining(`npm start -- --base-url https://${host} (or BASE_URL)`),
      })
      const socket = new WebSocket(`ws://${host}/live`)
      const refused = await new Promise<Error>((resolve) => socket.once('error', resolve))
      expect(refused.message).toBe('Unexpected server response: 403')
      const lines = running.local.logs.filter((entry) => entry.kind === 'platform' && entry.message.includes(host))
      expect(lines).toHaveLength(2)
    })
  })
}
