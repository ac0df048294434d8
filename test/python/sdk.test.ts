import { execFile, spawn } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { buildCliPackage } from '#ops/cli-package.ts'
import { signStandard, signSvc, standardSecret } from '#shared/kernel/signatures.ts'
import { testSdkAgent } from '../e2e/sdk-agent.ts'
import { must, newAgent, until } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const run = promisify(execFile)
const running = usingLocal()
const SOURCE = path.join(ROOT, 'packages/sdk-py')
const FRAMEWORKS = ['fastapi==0.165.0', 'flask==3.1.3', 'uvicorn==0.54.0', 'python-dotenv>=1']

let folder = ''
let python = ''
removingEnvironments()
beforeAll(async () => {
  const environment = await environmentOf('sdk')
  ;({ folder, python } = environment)
  await environment.pip('wheel', '--no-deps', '--wheel-dir', folder, SOURCE)
  const [wheel = ''] = readdirSync(folder).filter((name) => name.endsWith('.whl'))
  await environment.pip('install', path.join(folder, wheel), ...FRAMEWORKS, 'pyright==1.1.414', 'mypy==2.4.1')
  cpSync(path.join(ROOT, 'test/python/agent.py'), path.join(folder, 'agent.py'))
})

describe('the wheel, installed in an empty environment', () => {
  it('is typed: its sources and an agent that uses it pass pyright and mypy, both strict', async () => {
    const pyright = [path.join(folder, 'venv/bin/pyright'), '--pythonpath', python] as const
    const strict = await run(pyright[0], [...pyright.slice(1), '--project', SOURCE]).catch((error) => error)
    expect(strict.stdout).toContain('0 errors')
    const mypy = await run(path.join(folder, 'venv/bin/mypy'), ['--strict', '--cache-dir', '/dev/null', 'src'], {
      cwd: SOURCE,
    }).catch((error) => error)
    expect(mypy.stdout).toContain('no issues found')
    const agent = await run(pyright[0], [...pyright.slice(1), 'agent.py'], { cwd: folder }).catch((error) => error)
    expect(agent.stdout).toContain('0 errors')
  })

  it('takes both signatures of a webhook, and refuses a changed byte, another secret and an old timestamp', async () => {
    const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
    const body = JSON.stringify({ id: 'evt_1', type: 'run.succeeded', data: { duration_ms: 12 } })
    const now = Math.floor(Date.now() / 1_000)
    const signed = [
      { 'X-SVC-Signature': signSvc([secret], now, body) },
      signStandard([standardSecret(secret)], 'evt_1', now, body),
    ]
    const forged = [
      [signed[0], body.replace('12', '13')],
      [signed[1], body.replace('12', '13')],
      [{ 'X-SVC-Signature': signSvc(['whsec_other'], now, body) }, body],
      [{ 'X-SVC-Signature': signSvc([secret], now - 400, body) }, body],
      [{}, body],
    ]
    const given = [...signed.map((headers) => [headers, body]), ...forged]
    const program = `
import json, sys
from agent_integration_platform import SignatureError, verify
secret, given = json.load(sys.stdin)
for headers, body in given:
    try:
        print(verify(secret, headers, body.encode())["data"])
    except SignatureError:
        print("refused")
`
    const child = spawn(python, ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(JSON.stringify([secret, given]))
    let output = ''
    for await (const piece of child.stdout) output += piece
    const genuine = "{'duration_ms': 12}"
    expect(output.trim().split('\n')).toEqual([genuine, genuine, ...forged.map(() => 'refused')])
  })
})

it('renews tokens once for all requests, stores them before it uses them, and goes on after a failure to store', async () => {
  const { baseUrl } = running
  const agent = await newAgent(baseUrl, { endpoint: 'http://127.0.0.1:9/run' })
  const { id, client_id, client_secret } = agent.app
  const { refresh_token } = await must(baseUrl, 'POST', `/api/v1/dev/apps/${id}/sandbox-token`, agent)
  const program = path.join(ROOT, 'test/python/tokens.py')
  const { stdout } = await run(python, [program, baseUrl, client_id, client_secret, refresh_token])
  const kept = {
    names: 1,
    refreshed: 1,
    rotated: true,
    again: true,
    unstored: 'The disk is full.',
    recovered: true,
    stored: 2,
  }
  expect(JSON.parse(stdout)).toEqual([kept, kept, 'invalid_grant'])
})

it('previews, creates, changes, runs, pauses, resumes and deletes a schedule, and lists what fell due', async () => {
  const { baseUrl } = running
  const agent = await newAgent(baseUrl, { endpoint: 'http://127.0.0.1:9/run' })
  const { access_token } = await must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/sandbox-token`, agent)
  const program = `
import json, sys
from agent_integration_platform import Api
api = Api(sys.argv[1], token=sys.argv[2])
when = {"cron": "0 9 * * MON", "time_zone": "Europe/Amsterdam"}
times = api.post("/api/v1/schedules/preview", {"when": when})["next_times"]
made = api.post("/api/v1/schedules", {"name": "Week", "start": {"input": {}}, "when": when})
one = "/api/v1/schedules/" + made["id"]
changed = api.request("PATCH", one, {"overlap": "queue"})
run = api.post(one + "/run")
occurrence, = api.pages(one + "/occurrences")
states = [api.post(one + "/pause")["status"], api.post(one + "/resume")["status"]]
listed = [item["id"] == made["id"] for item in api.pages("/api/v1/schedules", status="active")]
api.request("DELETE", one)
left = list(api.pages("/api/v1/schedules"))
print(json.dumps([times == made["next_times"], changed["overlap"], occurrence["run"]["id"] == run["id"], states, listed, left]))
`
  const { stdout } = await run(python, ['-c', program, baseUrl, access_token])
  expect(JSON.parse(stdout)).toEqual([true, 'queue', true, ['paused', 'active'], [true], []])
})

it('the project of aip init --py runs', async () => {
  const tool = path.join(folder, 'aip')
  await buildCliPackage(tool)
  const slug = `greeter-${Date.now()}`
  const place = path.join(folder, slug)
  const env = { PATH: process.env.PATH, AIP_CONFIG: path.join(folder, 'config'), PLATFORM_URL: running.baseUrl }
  const aip = (args: string[], cwd = folder) =>
    run(process.execPath, [path.join(tool, 'aip.js'), ...args], { cwd, env })
  await aip(['register', '--email', `${slug}@example.com`, '--name', slug])
  const port = String(await freePort())
  await aip(['init', place, '--py', '--endpoint', `http://127.0.0.1:${port}`])
  const server = spawn(python, ['-m', 'uvicorn', 'agent:app', '--env-file', '.env', '--port', port], {
    cwd: place,
    env,
  })
  try {
    await until(() =>
      fetch(`http://127.0.0.1:${port}`).then(
        () => true as const,
        () => undefined,
      ),
    )
    await aip(['publish'], place)
    const { stdout } = await aip(['test-run', '--input', '{"name": "Ada"}'], place)
    expect(stdout).toContain('Hello, Ada!')
  } finally {
    server.kill()
  }
})

describe.each(['flask', 'fastapi', 'wsgi', 'asgi', 'asgi-threads'])('served with %s', (server) => {
  testSdkAgent(running, (env) =>
    spawn(python, ['agent.py'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, SERVER: server, ...env },
    }),
  )
})
