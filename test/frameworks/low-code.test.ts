import { execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { until } from '../e2e/support.ts'
import { startRunner } from './n8n.ts'

const run = promisify(execFile)

const SECRET = 'whsec_Iv7H/N5oltSGeCgmBhT5YjW8O7AG5sazDd3Y4QjNqK8='

/** The guide's lines below a heading. */
const linesOf = (heading: string): string => {
  const guide = readFileSync(path.join(ROOT, 'docs/guides/low-code.md'), 'utf8')
  const section = guide.slice(guide.indexOf(`## ${heading}\n`))
  return /```js[^\n]*\n([\s\S]*?)```/.exec(section)?.[1] ?? ''
}

// A parser and a serializer would change these bytes.
const BODY = '{"id": "evt_1",  "data": {"title": "Grüße"}}'

const signed = (body: string, { secret = SECRET, age = 0, other = false } = {}): string => {
  const t = Math.floor(Date.now() / 1_000) - age
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  return `t=${t},${other ? `v1=${'0'.repeat(64)},` : ''}v1=${v1}`
}

/** Deliveries with whether they are genuine. */
const DELIVERIES: [string, boolean, () => Record<string, string>][] = [
  ['signed with the secret', true, () => ({ 'x-svc-signature': signed(BODY) })],
  [
    'signed during a rotation, with another secret’s signature first',
    true,
    () => ({ 'x-svc-signature': signed(BODY, { other: true }) }),
  ],
  ['signed with another secret', false, () => ({ 'x-svc-signature': signed(BODY, { secret: 'whsec_other' }) })],
  ['signed 10 minutes ago', false, () => ({ 'x-svc-signature': signed(BODY, { age: 600 }) })],
  ['signed for another body', false, () => ({ 'x-svc-signature': signed(`${BODY} `) })],
  ['that isn’t signed', false, () => ({})],
]

describe('the lines for Node-RED 5.0.7', () => {
  const { folder, remove } = scratchFolder('node-red-')
  let stop = (): unknown => undefined
  let url = ''
  afterAll(() => {
    stop()
    remove()
  })
  beforeAll(async () => {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ dependencies: { 'node-red': '5.0.7' } }))
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder })
    const crypto = [{ var: 'crypto', module: 'crypto' }]
    const flow = [
      { id: 'tab', type: 'tab', label: 'Webhooks' },
      {
        id: 'in',
        z: 'tab',
        type: 'http in',
        url: '/webhooks',
        method: 'post',
        skipBodyParsing: true,
        wires: [['verify']],
      },
      {
        id: 'verify',
        z: 'tab',
        type: 'function',
        func: linesOf('Node-RED'),
        outputs: 2,
        libs: crypto,
        wires: [['title'], ['out']],
      },
      {
        id: 'title',
        z: 'tab',
        type: 'function',
        func: "msg.headers = { 'x-title': encodeURI(msg.payload.data.title) }; return msg",
        outputs: 1,
        wires: [['out']],
      },
      { id: 'out', z: 'tab', type: 'http response', wires: [] },
    ]
    writeFileSync(path.join(folder, 'flows.json'), JSON.stringify(flow))
    const port = await freePort()
    const settings = {
      uiPort: port,
      uiHost: '127.0.0.1',
      httpAdminRoot: false,
      flowFile: 'flows.json',
      telemetry: { enabled: false },
    }
    writeFileSync(path.join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
    const program = path.join(folder, 'node_modules/node-red/red.js')
    const child = spawn(process.execPath, [program, '-u', folder, '-s', path.join(folder, 'settings.js')], {
      env: { PATH: process.env.PATH, HOME: folder, WEBHOOK_SECRET: SECRET },
      stdio: 'ignore',
    })
    stop = () => child.kill()
    url = `http://127.0.0.1:${port}/webhooks`
    await until(() =>
      fetch(url, { method: 'POST', body: BODY }).then(
        ({ status }) => (status === 404 ? undefined : status),
        () => undefined,
      ),
    )
  })

  it.each(DELIVERIES)('judge a delivery %s: %s', async (_what, isGenuine, headersOf) => {
    const headers = { 'content-type': 'application/json', ...headersOf() }
    const { status, headers: answered } = await fetch(url, { method: 'POST', headers, body: BODY })
    expect([status, answered.get('x-title')]).toEqual(isGenuine ? [204, encodeURI('Grüße')] : [401, null])
  })
})

describe('the lines for n8n, in the runner of its Code nodes (@n8n/task-runner 2.41.1)', () => {
  const { folder, remove } = scratchFolder('n8n-')
  const allowed = { NODE_FUNCTION_ALLOW_BUILTIN: 'crypto', N8N_BLOCK_ENV_ACCESS_IN_NODE: 'false' }
  const runners: { close: () => void }[] = []
  afterAll(() => {
    for (const runner of runners) runner.close()
    remove()
  })
  const runnerWith = async (env: Record<string, string>) => {
    const runner = await startRunner(folder, { WEBHOOK_SECRET: SECRET, ...env })
    runners.push(runner)
    return (headers: Record<string, string>) => runner.execute(linesOf('n8n'), { headers, body: BODY })
  }
  let execute: Awaited<ReturnType<typeof runnerWith>>
  beforeAll(async () => {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ dependencies: { '@n8n/task-runner': '2.41.1' } }))
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder })
    execute = await runnerWith(allowed)
  })

  it.each(DELIVERIES)('judge a delivery %s: %s', async (_what, isGenuine, headersOf) => {
    const done = execute(headersOf())
    if (isGenuine) expect(await done).toEqual([{ json: JSON.parse(BODY) }])
    else await expect(done).rejects.toThrow('The signature is wrong.')
  })

  it.each(Object.keys(allowed))('need %s', async (name) => {
    const without = await runnerWith({ ...allowed, [name]: '' })
    await expect(without({ 'x-svc-signature': signed(BODY) })).rejects.toThrow(/disallowed|denied/)
  })
})
