import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
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
})

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

/** Reads pushes with the official types, in a program that verifies them and refuses altered ones. @returns their states */
const readPushes = (interpreter: string, pushes: object[]): string[] => {
  const env = { ...process.env, PYTHONPATH: path.join(ROOT, 'packages/sdk-py/src') }
  const given = { env, input: JSON.stringify(pushes), encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(
    interpreter,
    [path.join(ROOT, 'test/python/a2a_pushes.py'), 'tell-me'],
    given,
  )
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout)
}

/** Runs a program that talks to the agent over both bindings, and checks what it saw and what was pushed. */
const talks = async (interpreter: string, file: string, { address, token }: { address: string; token: string }) => {
  const args = [path.join(ROOT, 'test/python', file), address, token, `${pushed.url}/push`]
  const { stdout } = await promisify(execFile)(interpreter, args, { timeout: 600_000 })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { binding: 'JSONRPC', found: 3, seen: WHOLE },
    { binding: 'HTTP+JSON', found: 3, seen: WHOLE },
  ])
  for (const { pushed: id } of lines) {
    const arrived = () => pushed.requests.filter(({ body }) => body.includes(id))
    await until(() => arrived().find(({ body }) => /"(TASK_STATE_CANCELED|canceled)"/.test(body.toString())))
    const requests = arrived()
    for (const { headers } of requests) expect(headers['x-a2a-notification-token']).toBe('tell-me')
    const states = readPushes(
      interpreter,
      requests.map(({ headers, body }) => ({ signature: headers['x-svc-signature'], body: body.toString() })),
    )
    expect(states.at(-1)).toBe('CANCELED')
    expect(new Set(requests.map(({ headers }) => headers['x-svc-delivery'])).size).toBe(requests.length)
  }
}

it('the official Python client 1.3.0 sends, is cut at every event, lists, cancels, verifies pushes and cards; the guide’s program asks', async () => {
  const made = await installed()
  await talks(python, 'a2a_client.py', made)
  const guide = readFileSync(path.join(ROOT, 'docs/guides/a2a.md'), 'utf8')
  const [, program = ''] = /```python[^\n]*\n([\s\S]*?)```/.exec(guide) ?? []
  const asks = `${program}\nimport asyncio, sys\nprint(asyncio.run(ask(*sys.argv[1:])))`
  const given = [made.address, made.token, 'mugs']
  expect((await promisify(execFile)(python, ['-c', asks, ...given])).stdout).toContain("{'found': 3.0}")
})

it('the official Python client 0.3.26 sends, is cut at every event, cancels and verifies pushes', async () => {
  await talks(python03, 'a2a_client_03.py', await installed())
})

it('the A2A agent of the guide, on the official Python SDK 1.3.0, asks and answers as an agent of the platform', async () => {
  const { url, program } = await startProgram(python, ['-c', guideProgram('Python')])
  try {
    const { question, run } = await askGuideAgent(running.baseUrl, url)
    expect(question.output.input_requests).toEqual({ question_1: { message: 'Of what?' } })
    expect(run).toMatchObject({ status: 'succeeded', output: { text: '12 (red mugs)' } })
  } finally {
    program.kill()
  }
})

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
