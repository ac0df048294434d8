import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { type Received, type Receiver, startReceiver } from '#testkit/receiver.ts'
import { askGuideAgent, guideProgram, startProgram } from './outside-agent.ts'
import { type Answer, must, send, until } from './support.ts'
import { usingLocal } from './using-local.ts'

/** A request that an agent receives. */
// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
type Execute = any
type Behaviour = (execute: Execute) => unknown

interface LocalAgent {
  slug: string
  name: string
  token: string
  signingSecret: string
  server: Receiver
  received: { execute: Execute; request: Received }[]
  behaves(behaviour: Behaviour): void
}

const SCOPES = ['runs:read', 'runs:write', 'tools:invoke', 'tasks:write', 'chat:read', 'agents:read']

const opened: Receiver[] = []
let developer: Record<string, string>
let sandboxId: string

/** An agent with its own server, installed next to the others in their developer's sandbox. */
const startAgent = async (name: string): Promise<LocalAgent> => {
  const server = await startReceiver()
  opened.push(server)
  let behaviour: Behaviour = () => ({ status: 'succeeded', output: { from: name } })
  const received: LocalAgent['received'] = []
  server.answer(async (request) => {
    const execute = JSON.parse(request.body.toString())
    received.push({ execute, request })
    const answer = await behaviour(execute)
    if (answer === undefined) return { kind: 'answer', status: 202 }
    return { kind: 'answer', headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
  })
  const unique = randomBytes(5).toString('hex')
  const slug = `${name.toLowerCase()}-${unique}`
  const call = (method: string, to: string, body?: unknown) =>
    must(running.baseUrl, method, `/api/v1/dev/apps${to}`, { headers: developer, ...(body !== undefined && { body }) })
  const app = await call('POST', '', { slug, name, type: 'agent', requested_scopes: SCOPES })
  await call('POST', `/${app.id}/versions`, {
    id: `vendor-${sandboxId.slice(-10)}.${slug}`,
    version: '1.0.0',
    name,
    summary: 'An agent of the tests.',
    runtime: { type: 'webhook', endpoint: server.url },
    tools: [
      {
        name: 'look',
        description: 'Looks something up.',
        input_schema: { type: 'object', required: ['item'], properties: { item: { type: 'string' } } },
      },
    ],
  })
  await call('POST', `/${app.id}/versions/1.0.0/promote`)
  const { access_token } = await call('POST', `/${app.id}/sandbox-token`)
  return {
    slug,
    name,
    token: access_token,
    signingSecret: app.signing_secret,
    server,
    received,
    behaves: (now) => {
      behaviour = now
    },
  }
}

const running = usingLocal()
beforeAll(async () => {
  const registered = await must(running.baseUrl, 'POST', '/api/v1/dev/register', {
    body: { email: `dev-${randomUUID()}@example.com`, name: 'Ada' },
  })
  developer = { 'x-developer-key': registered.api_key }
  sandboxId = registered.sandbox_workspace.id
})
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()))
})

const invoke = (token: string, tool: string, args: object): Promise<Answer> =>
  send(running.baseUrl, 'POST', `/api/v1/tools/${tool}/invoke`, { token, body: { arguments: args } })
const ask = (token: string, agent: string, item = 'bolt') =>
  invoke(token, 'ask_agent', { agent, tool: 'look', arguments: { item } })

/** Asks another agent with the run's own token, as an agent does, and returns the result. */
const asks =
  (slug: string): Behaviour =>
  async ({ callback }) => {
    const { status, body } = await ask(callback.token, slug)
    return status === 200
      ? { status: 'succeeded', output: { next: body.result } }
      : { status: 'failed', error_code: body.error.code, error_message: body.error.message }
  }

const runOf = async (token: string) => {
  const { id } = await must(running.baseUrl, 'POST', '/api/v1/runs', { token, body: {} })
  return ended(token, id)
}

/** Asks slowly enough for an installation's rate limit. */
const ended = (token: string, id: string) =>
  until(async () => {
    await sleep(150)
    const run = await must(running.baseUrl, 'GET', `/api/v1/runs/${id}`, { token })
    return run.finished_at ? run : undefined
  })

describe('three agents with their own servers', () => {
  it('ask one another three levels deep, signed at every hop, and no deeper', async () => {
    const [a, b, c] = [await startAgent('Alpha'), await startAgent('Beta'), await startAgent('Gamma')]
    a.behaves(asks(b.slug))
    b.behaves(asks(c.slug))
    let last: Answer | undefined
    c.behaves(async ({ callback, chain }) => {
      const answer = await ask(callback.token, chain.depth < 3 ? c.slug : a.slug)
      last = answer
      // No agent asks itself, so the chain's last hop returns to the first agent.
      if (answer.body.error?.code === 'unknown_agent') {
        const back = await ask(callback.token, a.slug)
        return { status: 'succeeded', output: { next: back.body.result } }
      }
      return { status: 'succeeded', output: { from: 'Gamma' } }
    })
    const run = await runOf(a.token)
    expect(run).toMatchObject({
      status: 'succeeded',
      output: {
        next: {
          chain_depth: 1,
          source: `agent:${b.slug}`,
          untrusted: true,
          output: { next: { chain_depth: 2, agent: 'Gamma', output: { next: { chain_depth: 3, agent: 'Alpha' } } } },
        },
      },
    })
    // Alpha, asked by Gamma, asks Beta: a fourth hop.
    expect(run.output.next.output.next.output.next).toMatchObject({
      status: 'failed',
      error_code: 'chain_too_deep',
    })
    expect(last?.body.error.code).toBe('unknown_agent')

    for (const { received, signingSecret } of [a, b, c]) {
      for (const { request } of received) {
        const [, t, v1] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(request.headers['x-svc-signature'])) ?? []
        expect(createHmac('sha256', signingSecret).update(`${t}.`).update(request.body).digest('hex')).toBe(v1)
      }
    }
    expect(b.received[0]?.execute).toMatchObject({
      tool: 'look',
      arguments: { item: 'bolt' },
      caller: { slug: a.slug, run_id: run.id, audience: 'member' },
      chain: { id: run.id, depth: 1 },
    })
  })

  it('wait for an agent that answers later', async () => {
    const [a, b] = [await startAgent('Alpha'), await startAgent('Slow')]
    a.behaves(asks(b.slug))
    b.behaves(({ run, callback }) => {
      void sleep(1_500).then(() =>
        must(running.baseUrl, 'POST', `/api/v1/runs/${run.id}/complete`, {
          token: callback.token,
          body: { status: 'succeeded', output: { late: true } },
        }),
      )
    })
    expect((await runOf(a.token)).output.next).toMatchObject({ status: 'succeeded', output: { late: true } })
  })

  it('stop when the run that started the chain is cancelled', async () => {
    const [a, b, c] = [await startAgent('Alpha'), await startAgent('Beta'), await startAgent('Silent')]
    a.behaves(asks(b.slug))
    b.behaves(asks(c.slug))
    c.behaves(() => undefined)
    const { id } = await must(running.baseUrl, 'POST', '/api/v1/runs', { token: a.token, body: {} })
    const asked = await until(() => c.received[0]?.execute.run.id)
    await must(running.baseUrl, 'POST', `/api/v1/runs/${id}/cancel`, { token: a.token })
    expect((await ended(c.token, asked)).status).toBe('cancelled')
  })

  it('delegate a task and receive its report', async () => {
    const [a, b] = [await startAgent('Alpha'), await startAgent('Worker')]
    b.behaves(async ({ task, callback }) => {
      const reported = await send(running.baseUrl, 'POST', `/api/v1/tasks/${task.id}/report`, {
        token: callback.token,
        body: { text: 'Seven.', output: { n: 7 } },
      })
      return { status: reported.status === 200 ? 'succeeded' : 'failed', error_message: reported.text }
    })
    a.behaves(async ({ callback }) => {
      const { body } = await invoke(callback.token, 'delegate_task', { agent: 'Worker', title: 'Count the bolts' })
      return { status: 'succeeded', output: body.result }
    })
    const { output } = await runOf(a.token)
    expect(output).toMatchObject({ agent: 'Worker', source: `agent:${b.slug}`, chain_depth: 1 })
    const result = await until(async () => {
      await sleep(150)
      const { items } = await must(running.baseUrl, 'GET', '/api/v1/events?types=task.result', { token: a.token })
      return items[0]
    })
    expect(result.data).toMatchObject({ task_id: output.task_id, status: 'review', text: 'Seven.', output: { n: 7 } })
  })

  it('are listed by GET /api/v1/agents as callable agents', async () => {
    const [a, b] = [await startAgent('Alpha'), await startAgent('Beta')]
    const { items } = await must(running.baseUrl, 'GET', '/api/v1/agents', { token: a.token })
    const shown = (slug: string) => items.find((one: { slug: string }) => one.slug === slug)
    expect(shown(b.slug)).toMatchObject({ callable: true, takes_tasks: true, tools: [{ name: 'look' }] })
    expect(shown(a.slug)).toMatchObject({ callable: false })
  })
})

it('an official A2A client asks an agent with the guide’s TypeScript program', async () => {
  const [asking, asked] = [await startAgent('Alpha'), await startAgent('Beta')]
  asked.behaves(({ arguments: { item } }) => ({ status: 'succeeded', output: { looked: item } }))
  const { installation } = await must(running.baseUrl, 'GET', '/api/v1/me', { token: asked.token })
  const guide = readFileSync(path.join(ROOT, 'docs/guides/a2a.md'), 'utf8')
  const [, program = ''] = /```ts[^\n]*\n([\s\S]*?)```/.exec(guide) ?? []
  // The program's imports are found there.
  const file = path.join(ROOT, 'node_modules/.cache/guide-a2a.mjs')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `${program}\nexport { ask }\n`)
  const { ask: answer } = await import(file)
  const address = `${running.baseUrl}/a2a/agents/${installation.id}`
  expect(await answer(address, asking.token, 'mugs')).toEqual({ looked: 'mugs' })
})

it('the A2A agent of the guide, on the official TypeScript SDK, asks and answers as an agent of the platform', async () => {
  const file = path.join(ROOT, 'node_modules/.cache/guide-a2a-agents.mjs')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, guideProgram('TypeScript'))
  const { url, program } = await startProgram(process.execPath, [file])
  try {
    const { question, run } = await askGuideAgent(running.baseUrl, url)
    expect(question.output.input_requests).toEqual({ question_1: { message: 'Of what?' } })
    expect(run).toMatchObject({ status: 'succeeded', output: { text: '12 (red mugs)' } })
  } finally {
    program.kill()
  }
})
