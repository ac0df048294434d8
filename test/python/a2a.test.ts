import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { askGuideAgent, guideProgram, startProgram } from '../e2e/outside-agent.ts'
import { type Agent, must, newAgent, sandboxToken, until } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const running = usingLocal()
const agent = usingReceiver()
const pushed = usingReceiver()
let python = ''
let python03 = ''
removingEnvironments()
beforeAll(async () => {
  const [current, legacy] = await Promise.all([
    environmentOf('a2a', ['a2a-sdk[http-server]==1.3.0', 'httpx==0.28.1', 'pyjwt[crypto]', 'uvicorn']),
    environmentOf('a2a-0.3', ['a2a-sdk==0.3.26', 'httpx==0.28.1']),
  ])
  python = current.python
  python03 = legacy.python
}, 300_000)

/** Events that a client sees of the task that the item `steps` starts, in order. */
const WHOLE = [
  'task SUBMITTED',
  'WORKING',
  'WORKING One.',
  'artifact list',
  'WORKING Two.',
  'artifact output',
  'COMPLETED',
]

const STEPS = [
  { type: 'message', output: { text: 'One.' } },
  { type: 'artifact', output: { artifact_id: 'list', parts: [{ text: 'a' }] } },
  { type: 'message', output: { text: 'Two.' } },
]

const found = { status: 'succeeded', output: { found: 3 } }

/** Reports some steps, and ends. */
const work = async ({ run, callback }: { run: { id: string }; callback: { base_url: string; token: string } }) => {
  const report = (resource: string, body: unknown) =>
    must(`${callback.base_url}/runs/${run.id}`, 'POST', `/${resource}`, { token: callback.token, body })
  for (const step of STEPS) await report('steps', { steps: [step] })
  await report('complete', found)
}

/** Installs a client and the agent that it talks to. */
const installed = async () => {
  agent.answer(({ body }) => {
    const execute = JSON.parse(body.toString())
    const item = execute.arguments?.item
    if (item === 'steps') work(execute).catch((error: unknown) => console.error(error))
    if (item === 'steps' || item === 'slow') return { kind: 'answer', status: 202 }
    return { kind: 'answer', headers: { 'content-type': 'application/json' }, body: JSON.stringify(found) }
  })
  const { baseUrl } = running
  const scopes = ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke', 'agents:read']
  const asking = await newAgent(baseUrl, { endpoint: agent.url, scopes })
  const asked = await newApp(asking, scopes)
  const { installation } = await must(baseUrl, 'GET', '/api/v1/me', { token: asked.token })
  return { address: `${baseUrl}/a2a/agents/${installation.id}`, token: await sandboxToken(baseUrl, asking) }
}

/** Runs a program that talks to the agent over both bindings, and checks what it saw and what was pushed. */
const talks = async (interpreter: string, file: string, { address, token }: { address: string; token: string }) => {
  const args = [path.join(ROOT, 'test/python', file), address, token, `${pushed.url}/push`]
  const { stdout } = await promisify(execFile)(interpreter, args, { timeout: 90_000 })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { binding: 'JSONRPC', found: 3, seen: WHOLE },
    { binding: 'HTTP+JSON', found: 3, seen: WHOLE },
  ])
  for (const { pushed: id } of lines) {
    const request = await until(() =>
      pushed.requests.find(({ body }) => body.includes(id) && /"(TASK_STATE_CANCELED|canceled)"/.test(body.toString())),
    )
    expect(request.headers['x-a2a-notification-token']).toBe('tell-me')
    const signature = String(request.headers['x-svc-signature'])
    expect(verifySvc('tell-me', signature, request.body.toString(), request.at / 1_000)).toBe(true)
  }
}

it('the official Python client 1.3.0 sends, is cut at every event, lists, cancels, gets pushes and verifies cards; the guide’s program asks', async () => {
  const made = await installed()
  await talks(python, 'a2a_client.py', made)
  const guide = readFileSync(path.join(ROOT, 'docs/guides/a2a.md'), 'utf8')
  const [, program = ''] = /```python[^\n]*\n([\s\S]*?)```/.exec(guide) ?? []
  const asks = `${program}\nimport asyncio, sys\nprint(asyncio.run(ask(*sys.argv[1:])))`
  const given = [made.address, made.token, 'mugs']
  expect((await promisify(execFile)(python, ['-c', asks, ...given])).stdout).toContain("{'found': 3.0}")
}, 180_000)

it('the official Python client 0.3.26 sends, is cut at every event, cancels and gets pushes', async () => {
  await talks(python03, 'a2a_client_03.py', await installed())
}, 180_000)

it('the A2A agent of the guide, on the official Python SDK 1.3.0, asks and answers as an agent of the platform', async () => {
  const { url, program } = await startProgram(python, ['-c', guideProgram('Python')])
  try {
    const { question, run } = await askGuideAgent(running.baseUrl, url)
    expect(question.output.input_requests).toEqual({ question_1: { message: 'Of what?' } })
    expect(run).toMatchObject({ status: 'succeeded', output: { text: '12 (red mugs)' } })
  } finally {
    program.kill()
  }
}, 60_000)

/** Publishes another agent of the developer, with the tool `look`, in their sandbox. */
const newApp = async ({ headers, app: { id } }: Agent, requested_scopes: string[]) => {
  const { baseUrl } = running
  const slug = `asked-${randomBytes(5).toString('hex')}`
  const { items } = await must(baseUrl, 'GET', `/api/v1/dev/apps/${id}/versions`, { headers })
  const [vendor] = items[0].manifest.id.split('.')
  const app = await must(baseUrl, 'POST', '/api/v1/dev/apps', {
    headers,
    body: { slug, name: 'Asked', type: 'agent', requested_scopes },
  })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions`, {
    headers,
    body: {
      id: `${vendor}.${slug}`,
      version: '1.0.0',
      name: 'Asked',
      summary: 'An agent of the tests.',
      runtime: { type: 'webhook', endpoint: agent.url },
      tools: [{ name: 'look', description: 'Looks something up.', input_schema: { type: 'object' } }],
    },
  })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, { headers })
  const { access_token } = await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, { headers })
  return { app, token: access_token as string }
}
