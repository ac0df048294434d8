import { randomUUID } from 'node:crypto'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
  UnauthorizedError as ModernUnauthorized,
} from '@modelcontextprotocol/client'
import { UnauthorizedError as LegacyUnauthorized } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { startReceiver } from '#testkit/receiver.ts'
import { using } from '#testkit/using.ts'
import { must } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { startConformanceAgent } from './agent.ts'
import { consentToHost, newMember, type Person } from './people.ts'

const running = usingLocal()
const agent = using(
  () => startConformanceAgent(running.baseUrl),
  (made) => made.close(),
)
/** Server of the assistant's makers, with its client id metadata document. */
const makers = using(startReceiver, (server) => server.close())

const INFO = { name: 'Assistant', version: '1.0.0' }
const REDIRECT = 'http://localhost:33418/callback'

/** In-memory storage of an assistant's connection. */
const createProvider = (metadataUrl?: string) => {
  // biome-ignore lint/suspicious/noExplicitAny: both SDKs have types of their own for what they keep
  const kept: Record<string, any> = {}
  return {
    kept,
    asked: [] as URL[],
    redirectUrl: REDIRECT,
    ...(metadataUrl !== undefined && { clientMetadataUrl: metadataUrl }),
    clientMetadata: { client_name: 'Assistant', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation(client: object) {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens(tokens: object) {
      kept.tokens = tokens
    },
    redirectToAuthorization(url: URL) {
      this.asked.push(url)
    },
    saveCodeVerifier(verifier: string) {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier,
    invalidateCredentials(scope: string) {
      if (scope === 'all' || scope === 'tokens') kept.tokens = undefined
    },
    saveDiscoveryState(state: object) {
      kept.discovery = state
    },
    discoveryState: () => kept.discovery,
  }
}

type Provider = ReturnType<typeof createProvider>

/** Operations that both SDKs have. */
interface Assistant {
  provider: Provider
  connect(): Promise<void>
  finish(code: string): Promise<void>
  list(): Promise<string[]>
  call(name: string, args: object): Promise<string>
  close(): Promise<void>
}

const textOf = (result: unknown): string => JSON.stringify(result)
const codeIn = (url: string): string => new URL(url).searchParams.get('code') ?? ''

const modern = (provider: Provider, to: string): Assistant => {
  const url = new URL(to, running.baseUrl)
  const client = new ModernClient(INFO, {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  })
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Alice' } }))
  const transport = () => new ModernTransport(url, { authProvider: provider as never })
  let last = transport()
  return {
    provider,
    connect: () => {
      last = transport()
      return client.connect(last)
    },
    finish: (redirectTo) => last.finishAuth(new URL(redirectTo).searchParams),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args as Record<string, unknown> })),
    close: () => client.close(),
  }
}

const legacy = (provider: Provider, to: string): Assistant => {
  const url = new URL(to, running.baseUrl)
  const client = new LegacyClient(INFO, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept' as const, content: { name: 'Alice' } }))
  const transport = () => new LegacyTransport(url, { authProvider: provider as never })
  let last = transport()
  return {
    provider,
    connect: () => {
      last = transport()
      return client.connect(last as Parameters<typeof client.connect>[0])
    },
    finish: (redirectTo) => last.finishAuth(codeIn(redirectTo)),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args as Record<string, unknown> })),
    close: () => client.close(),
  }
}

const unauthorized = (error: unknown): boolean =>
  error instanceof ModernUnauthorized || error instanceof LegacyUnauthorized

/** Does what needs a sign-in: the SDK sends the person to the consent page, and the assistant goes on with the code. */
const signIn = async (assistant: Assistant, person: Person, act: () => Promise<unknown>): Promise<void> => {
  const before = assistant.provider.asked.length
  const error = await act().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(unauthorized(error), String(error)).toBe(true)
  const url = assistant.provider.asked[before]
  if (!url) throw new Error('the person was asked nothing')
  await assistant.finish(await consentToHost(running.baseUrl, url, person))
}

const documentUrl = () => `${makers.url}/${randomUUID()}.json`
const publish = (id: string): string => {
  const document = { client_id: id, client_name: 'Assistant', redirect_uris: [REDIRECT] }
  const headers = { 'content-type': 'application/json' }
  makers.answer({ kind: 'answer', headers, body: JSON.stringify(document) })
  return id
}

describe.each([
  ['of 2026-07-28', modern],
  ['of the versions with a handshake', legacy],
])('the official TypeScript client %s', (_version, create) => {
  it.each([
    ['by registering', false],
    ['by its metadata document', true],
  ])(
    'signs in %s, lists, calls, steps up, refreshes, and loses access with the membership',
    async (_way, byDocument) => {
      const person = await newMember(running.baseUrl, agent.agentToken)
      // The SDKs take https documents only, so the client brings the id itself.
      const provider = createProvider()
      if (byDocument) provider.kept.client = { client_id: publish(documentUrl()) }
      const assistant = create(provider, '/mcp')
      await signIn(assistant, person, () => assistant.connect())
      await assistant.connect()
      const tools = await assistant.list()
      expect(tools).toEqual(expect.arrayContaining(['create_task', 'message_agent', `${agent.slug}__greet`]))
      expect(tools).not.toContain('http_fetch')
      expect(await assistant.call('workspace_info', {})).toContain('time_zone')
      expect(await assistant.call(`${agent.slug}__greet`, { name: 'Ada' })).toContain('Hello, Ada!')
      const start = { tool: 'greet', arguments: { name: 'Ada' } }
      const scheduled = { agent: agent.slug, name: 'Greeting', start, when: { every: 'P1D' } }
      expect(await assistant.call('create_schedule', scheduled)).toContain('next_times')
      expect(await assistant.call('list_schedules', {})).toContain('Greeting')
      const asking = create === modern ? 'test_input_required_result_elicitation' : 'test_elicitation'
      expect(await assistant.call(`${agent.slug}__${asking}`, { message: 'Who?' })).toContain('Alice')

      const saved = { name: 'note.txt', content: 'Hello' }
      if (create === modern) {
        await signIn(assistant, person, () => assistant.call('save_file', saved))
        const scopes = provider.asked.at(-1)?.searchParams.get('scope')?.split(' ')
        expect(scopes).toEqual(expect.arrayContaining(['files:write', 'runs:write']))
        expect(await assistant.call('save_file', saved)).toContain('note.txt')
      } else {
        // It refreshes instead of asking for another consent, and gives up.
        await expect(assistant.call('save_file', saved)).rejects.toThrow('403 after trying upscoping')
      }

      const { refresh_token } = provider.kept.tokens
      provider.kept.tokens = { ...provider.kept.tokens, access_token: 'expired' }
      expect(await assistant.call('workspace_info', {})).toContain('time_zone')
      expect(provider.kept.tokens.refresh_token).not.toBe(refresh_token)

      await must(running.baseUrl, 'DELETE', '/console/workspace/membership', { token: person.token })
      await expect(assistant.call('workspace_info', {})).rejects.toSatisfy(unauthorized)
      await assistant.close()
    },
  )
})
