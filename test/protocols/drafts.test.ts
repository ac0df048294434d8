import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  DefaultAgentCardResolver as LegacyCardResolver,
  ClientFactory as LegacyClientFactory,
  JsonRpcTransportFactory as LegacyJsonRpc,
} from 'a2a-sdk-0.3/client'
import { describe, expect, it } from 'vitest'
import { dataMessage } from '#examples/demo/a2a-agents.ts'
import { resumingFetch } from '#examples/demo/resuming.ts'
import { MODEL_KEY } from '#testkit/model-server.ts'
import { usingModel, usingReceiver } from '#testkit/using.ts'
import { must, until } from '../e2e/support.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'

const model = usingModel()
const hook = usingReceiver()
const running = usingOwnLocal(() => ({
  shell: { MODEL_API_URL: model.url, MODEL_NAME: 'small', MODEL_API_KEY: MODEL_KEY },
}))

/** Installs an inline agent with the tool `look` and a client of it, in one developer's sandbox. */
const installed = async () => {
  const { baseUrl } = running
  const unique = randomBytes(5).toString('hex')
  const registered = await must(baseUrl, 'POST', '/api/v1/dev/register', {
    body: { email: `dev-${unique}@example.com`, name: 'Ada' },
  })
  const headers = { 'x-developer-key': registered.api_key }
  const install = async (name: string) => {
    const slug = `${name}-${unique}`
    const app = await must(baseUrl, 'POST', '/api/v1/dev/apps', {
      headers,
      body: { slug, name, type: 'agent', requested_scopes: ['runs:read', 'runs:write', 'tools:invoke'] },
    })
    await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions`, {
      headers,
      body: {
        id: `vendor-${unique}.${slug}`,
        version: '1.0.0',
        name,
        summary: 'An agent of the tests.',
        runtime: { type: 'inline', instructions: 'Look.' },
        tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
      },
    })
    await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, { headers })
    const { access_token } = await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, { headers })
    return { slug, token: access_token as string }
  }
  const agent = await install('looker')
  const { token } = await install('client')
  const { installation } = await must(baseUrl, 'GET', '/api/v1/me', { token: agent.token })
  return { token, slug: agent.slug, url: `${baseUrl}/a2a/agents/${installation.id}/` }
}

const WORDS = ['Seven ', 'pieces ', 'left.']

/** Lets the model write the next words once a client has seen the ones before. */
const writing = () => {
  const seen = WORDS.map(() => Promise.withResolvers<void>())
  model.always({
    chunks: (async function* () {
      for (const [i, content] of WORDS.entries()) {
        yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] }
        await seen[i]?.promise
      }
      yield { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    })(),
  })
  let next = 0
  return { sees: (): void => void seen[next++]?.resolve() }
}

/** Text of the artifact `output` as an A2A client assembles it by the protocol's rules. */
const artifactOf = (sees: () => void) => {
  const states: unknown[][] = []
  return {
    states,
    update(parts: unknown[], append: boolean | undefined): void {
      states.push(append ? [...(states.at(-1) ?? []), ...parts] : parts)
      sees()
    },
  }
}

const GROWN = [['Seven '], ['Seven ', 'pieces '], ['Seven ', 'pieces ', 'left.'], [{ text: 'Seven pieces left.' }]]

describe('an answer that an inline agent is writing', () => {
  it('grows as the artifact `output` for the official A2A client of version 1.0', async () => {
    const { token, url } = await installed()
    const artifact = artifactOf(writing().sees)
    const { fetch: fetchImpl } = resumingFetch(token)
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      preferredTransports: ['JSONRPC'],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }).createFromUrl(url)
    const message = dataMessage({ skill: 'look', arguments: {} })
    const chunks: boolean[] = []
    for await (const { payload } of client.sendMessageStream({
      tenant: '',
      metadata: undefined,
      message,
      configuration: undefined,
    })) {
      if (payload?.$case !== 'artifactUpdate') continue
      expect(payload.value.artifact).toMatchObject({ artifactId: 'output', name: 'output' })
      const parts = payload.value.artifact?.parts.map(({ content }) => content?.value) ?? []
      artifact.update(parts, payload.value.append)
      chunks.push(payload.value.lastChunk)
    }
    expect(artifact.states).toEqual(GROWN)
    expect(chunks).toEqual([false, false, false, true])
  })

  it('grows as the artifact `output` for the official A2A client of version 0.3', async () => {
    const { token, url } = await installed()
    const artifact = artifactOf(writing().sees)
    const { fetch: fetchImpl } = resumingFetch(token)
    const client = await new LegacyClientFactory({
      transports: [new LegacyJsonRpc({ fetchImpl })],
      preferredTransports: ['JSONRPC'],
      cardResolver: new LegacyCardResolver({ fetchImpl }),
    }).createFromUrl(url, 'v0.3/.well-known/agent-card.json')
    const parts = [{ kind: 'data' as const, data: { skill: 'look', arguments: {} } }]
    const message = { kind: 'message' as const, messageId: randomUUID(), role: 'user' as const, parts }
    for await (const event of client.sendMessageStream({ message })) {
      if (event.kind !== 'artifact-update') continue
      const given = event.artifact.parts.map((part) => (part.kind === 'text' ? part.text : 'data' in part && part.data))
      artifact.update(given, event.append)
    }
    expect(artifact.states).toEqual(GROWN)
  })

  it('comes whole to a client that subscribes meanwhile, and isn’t pushed', async () => {
    const { token, url } = await installed()
    model.requests.length = 0
    const { sees } = writing()
    const { fetch: fetchImpl } = resumingFetch(token)
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      preferredTransports: ['JSONRPC'],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }).createFromUrl(url)
    const taskPushNotificationConfig = {
      tenant: '',
      id: '',
      taskId: '',
      url: hook.url,
      token: 't',
      authentication: undefined,
    }
    const task = await client.sendMessage({
      tenant: '',
      metadata: undefined,
      message: dataMessage({ skill: 'look', arguments: {} }),
      configuration: { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately: true },
    })
    if (!('id' in task)) throw new Error('a task was expected')
    await until(() => model.requests.length > 0 || undefined)
    // Its push notifications look for changes every second at first.
    await pause(2_500)
    const artifact = artifactOf(sees)
    for await (const { payload } of client.resubscribeTask({ tenant: '', id: task.id })) {
      if (payload?.$case === 'task') sees()
      if (payload?.$case !== 'artifactUpdate') continue
      artifact.update(payload.value.artifact?.parts.map(({ content }) => content?.value) ?? [], payload.value.append)
    }
    expect(artifact.states.at(0)?.[0]).toMatch(/^Seven /)
    expect(artifact.states.at(-1)).toEqual([{ text: 'Seven pieces left.' }])
    const pushed = () => hook.requests.map(({ body }) => JSON.parse(body.toString()))
    await until(
      () => pushed().some(({ statusUpdate }) => statusUpdate?.status.state === 'TASK_STATE_COMPLETED') || undefined,
    )
    const artifacts = pushed().flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts ?? [])
    expect(artifacts).toEqual([{ data: { text: 'Seven pieces left.' } }])
  })

  it.each([
    ['2026-07-28', true],
    ['2025-11-25', false],
  ])('is the message of its progress for the official MCP client of %s', async (_version, isModern) => {
    const { token, slug } = await installed()
    const { sees } = writing()
    const to = new URL(`/mcp/agents/${slug}`, running.baseUrl)
    const options = { requestInit: { headers: { authorization: `Bearer ${token}` } } }
    const info = { name: 'test', version: '1.0.0' }
    const seen: [number, string | undefined][] = []
    const onprogress = ({ progress, message }: { progress: number; message?: string | undefined }) => {
      seen.push([progress, message])
      sees()
    }
    const call = { name: 'look', arguments: {} }
    if (isModern) {
      const client = new ModernClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
      await client.connect(new ModernTransport(to, options))
      await client.callTool(call, { onprogress })
      await client.close()
    } else {
      const client = new LegacyClient(info)
      await client.connect(new LegacyTransport(to, options) as Parameters<typeof client.connect>[0])
      await client.callTool(call, undefined, { onprogress })
      await client.close()
    }
    expect(seen).toEqual([
      [1, 'Seven '],
      [2, 'Seven pieces '],
      [3, 'Seven pieces left.'],
      [4, 'Seven pieces left.'],
    ])
  })
})
