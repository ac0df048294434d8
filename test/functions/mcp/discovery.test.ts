import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_BRAND } from '#shared/kernel/brand.ts'
import { MCP_VERSIONS, mcpIdentity } from '#shared/kernel/mcp-server.ts'
import { newApp, newDeveloper } from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingAgents } from '../api/agents-support.ts'
import { listApp, moderate } from '../console/marketplace-support.ts'
import { createClient } from './mcp-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

const CATALOGUES = [
  ['/.well-known/ard.json', 'application/json'],
  ['/.well-known/ai-catalog.json', 'application/ai-catalog+json'],
] as const

const publishing = () => {
  platform.deps.settings.publicAgents = true
}
afterEach(() => {
  platform.deps.settings.publicAgents = false
})

const entriesOf = async (): Promise<{ url: string; displayName: string; identifier: string }[]> =>
  (await platform.call('GET', '/.well-known/ard.json')).body.entries

const pathOf = (url: string) => url.slice(platform.deps.settings.baseUrl.length)

describe('the card of the MCP server', () => {
  it('tells where and how to connect, and has no tools', async () => {
    const { status, headers, body } = await platform.call('GET', '/mcp/server-card')
    const { baseUrl } = platform.deps.settings
    expect([status, headers['content-type']]).toEqual([200, 'application/mcp-server-card+json'])
    expect(body).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'test.platform/mcp',
      title: 'Agent Integration Platform',
      version: '1.0.0',
      description: expect.stringMatching(/^.{1,100}$/),
      websiteUrl: `${baseUrl}/docs`,
      icons: [{ src: `${baseUrl}/brand.svg` }],
      remotes: [{ type: 'streamable-http', url: `${baseUrl}/mcp`, supportedProtocolVersions: [...MCP_VERSIONS] }],
    })
  })

  it('says the same as the server itself, and names versions that it speaks', async () => {
    const { token } = await agents.agent()
    const { body: card } = await platform.call('GET', '/mcp/server-card')
    const client = createClient(platform, token)
    const { result } = (await client.modern('server/discover')).body
    const { name, title, version } = card
    expect(result._meta['io.modelcontextprotocol/serverInfo']).toEqual({ name, title, version })
    const [modern, ...older] = card.remotes[0].supportedProtocolVersions
    expect(result.supportedVersions).toEqual([modern])
    for (const protocolVersion of older) {
      const answer = await client.legacy('initialize', { protocolVersion, capabilities: {} })
      expect(answer.body.result).toMatchObject({ protocolVersion, serverInfo: { name, title, version } })
    }
  })

  it.each(['/mcp/server-card', ...CATALOGUES.map(([path]) => path)])(
    '%s may be read by any page, is cached, and is 304 while unchanged',
    async (path) => {
      const headers = { origin: 'https://client.example', 'access-control-request-method': 'GET' }
      const preflight = await platform.call('OPTIONS', path, { headers })
      expect(preflight.status).toBe(204)
      expect(preflight.headers['access-control-allow-origin']).toBe('*')
      expect(preflight.headers['access-control-allow-headers']).toMatch(/\*|If-None-Match/)
      const answer = await platform.call('GET', path, { headers: { origin: 'https://client.example' } })
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': 'Content-Type, If-None-Match',
        'access-control-expose-headers': expect.stringContaining('ETag'),
        'cache-control': expect.stringMatching(/^public, max-age=(300|3600)$/),
      })
      const again = await platform.call('GET', path, { headers: { 'if-none-match': String(answer.headers.etag) } })
      expect([again.status, again.text]).toEqual([304, ''])
      const other = await platform.call('GET', path, { headers: { 'if-none-match': '"other"' } })
      expect([other.status, other.text]).toEqual([200, answer.text])
    },
  )

  it.each([
    ['https://api.example.com', 'com.example.api/mcp'],
    ['https://x1.execute-api.eu-west-1.amazonaws.com/prod', 'com.amazonaws.eu-west-1.execute-api.x1/mcp'],
    ['http://127.0.0.1:3000', '127.0.0.1/mcp'],
    ['http://[::1]:3000', '---1-/mcp'],
    ['http://localhost:3000', 'localhost/mcp'],
  ])('at %s names the server %s, by the pattern of names', (baseUrl, name) => {
    expect(mcpIdentity({ baseUrl, brand: DEFAULT_BRAND }).name).toBe(name)
    expect(mcpIdentity({ baseUrl, brand: DEFAULT_BRAND }, 'helper').name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
  })
})

describe('the catalogue', () => {
  it('is one document at both addresses, and leads to the card', async () => {
    const [ard, legacy] = await Promise.all(CATALOGUES.map(([path]) => platform.call('GET', path)))
    expect(CATALOGUES.map(([, type]) => type)).toEqual([ard, legacy].map((answer) => answer?.headers['content-type']))
    expect(legacy?.text).toBe(ard?.text)
    expect(ard?.body).toMatchObject({ specVersion: '1.0', host: { displayName: 'Agent Integration Platform' } })
    expect(ard?.body.entries).toEqual([
      {
        identifier: 'urn:air:platform.test:platform:mcp',
        displayName: 'Agent Integration Platform',
        type: 'application/mcp-server-card+json',
        url: `${platform.deps.settings.baseUrl}/mcp/server-card`,
        description: expect.any(String),
        representativeQueries: expect.any(Array),
      },
    ])
  })

  it('names no agent by default, and none has a card', async () => {
    const { app } = await listApp(platform)
    expect(await entriesOf()).toHaveLength(1)
    expect((await platform.call('GET', `/mcp/agents/${app.slug}/server-card`)).status).toBe(404)
  })

  it('names the agents of the marketplace if the operator wants, each with a card of its server', async () => {
    publishing()
    const { app } = await listApp(platform, { summary: 'Counts stock. '.repeat(10), category: 'support' })
    const entry = (await entriesOf()).find(
      ({ identifier }) => identifier === `urn:air:platform.test:agents.${app.slug}:mcp`,
    )
    expect(entry).toMatchObject({ type: 'application/mcp-server-card+json', tags: ['support'] })
    const { status, headers, body } = await platform.call('GET', pathOf(entry?.url ?? ''))
    expect([status, headers['content-type']]).toEqual([200, 'application/mcp-server-card+json'])
    expect(body).toMatchObject({
      name: `test.platform/agents.${app.slug}`,
      title: entry?.displayName,
      remotes: [{ url: `${platform.deps.settings.baseUrl}/mcp/agents/${app.slug}` }],
    })
    expect([...body.description].length).toBe(100)
    expect(body.description).toMatch(/…$/)
  })

  it('never names a private agent: drafts, suspended or delisted ones, integrations and those of a blocked developer', async () => {
    publishing()
    const before = (await entriesOf()).length
    const integration = await listApp(platform, { type: 'integration' })
    const suspended = await listApp(platform)
    await moderate(platform, suspended.app, 'suspend')
    const delisted = await listApp(platform)
    await platform.call('POST', `/admin/apps/${delisted.app.id}/delist`, {
      headers: { 'x-admin-key': 'local-admin-key' },
      body: { reason: 'Out of date.' },
    })
    const blocked = await listApp(platform)
    const block = await platform.call('POST', `/admin/developers/${blocked.developer.id}/block`, {
      headers: { 'x-admin-key': 'local-admin-key' },
      body: { reason: 'Spam.' },
    })
    expect(block.status).toBe(200)
    const developer = await newDeveloper(platform)
    const draft = await newApp(developer)
    expect(await entriesOf()).toHaveLength(before)
    const slugs = [integration.app, suspended.app, delisted.app, blocked.app, draft].map(({ slug }) => slug)
    for (const slug of [...slugs, 'no-such-agent']) {
      const answer = await platform.call('GET', `/mcp/agents/${slug}/server-card`)
      expect([slug, answer.status]).toEqual([slug, 404])
    }
  })
})
