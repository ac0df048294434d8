import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { usingReceiver } from '#testkit/using.ts'
import { askGuideAgent, guideProgram, startProgram } from '../e2e/outside-agent.ts'
import { type Agent, must, newAgent, sandboxToken } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const running = usingLocal()
const agent = usingReceiver()
const pushed = usingReceiver()
let python = ''
removingEnvironments()
beforeAll(async () => {
  python = (await environmentOf('a2a', ['a2a-sdk[http-server]==1.3.0', 'httpx==0.28.1', 'pyjwt[crypto]', 'uvicorn']))
    .python
}, 300_000)

it('the official Python client 1.3.0 streams, reads, lists, resubscribes, cancels, asks for pushes and verifies cards; the guide’s program asks', async () => {
  agent.answer(({ body }) => {
    const { arguments: given } = JSON.parse(body.toString())
    if (given?.item === 'slow') return { kind: 'answer', status: 202 }
    const answer = { status: 'succeeded', output: { found: 3 } }
    return { kind: 'answer', headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
  })
  const { baseUrl } = running
  const scopes = ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke', 'agents:read']
  const asking = await newAgent(baseUrl, { endpoint: agent.url, scopes })
  const asked = await newApp(asking, scopes)
  const token = await sandboxToken(baseUrl, asking)
  const installation = (await must(baseUrl, 'GET', '/api/v1/me', { token: asked.token })).installation.id
  const { stdout } = await promisify(execFile)(
    python,
    [
      path.join(ROOT, 'test/python/a2a_client.py'),
      `${baseUrl}/a2a/agents/${installation}`,
      token,
      `${pushed.url}/push`,
    ],
    { timeout: 60_000 },
  )
  const guide = readFileSync(path.join(ROOT, 'docs/guides/a2a.md'), 'utf8')
  const [, program = ''] = /```python[^\n]*\n([\s\S]*?)```/.exec(guide) ?? []
  const asks = `${program}\nimport asyncio, sys\nprint(asyncio.run(ask(*sys.argv[1:])))`
  const given = [`${baseUrl}/a2a/agents/${installation}`, token, 'mugs']
  expect((await promisify(execFile)(python, ['-c', asks, ...given])).stdout).toContain("{'found': 3.0}")
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(([binding, found]) => [binding, found])).toEqual([
    ['JSONRPC', 3],
    ['HTTP+JSON', 3],
  ])
}, 120_000)

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
  const slug = `asked-${Date.now()}`
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
