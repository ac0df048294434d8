import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { buildCliPackage } from '#ops/cli-package.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { pngOf } from '#testkit/images.ts'
import { startReceiver, succeeds } from '#testkit/receiver.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { usingReceiver } from '#testkit/using.ts'
import { codeOf, seal } from '#web/developers/client/seal.ts'
import { type Agent, must, newAgent, sandboxToken, send, until } from './support.ts'
import { usingOwnLocal } from './using-local.ts'

const PLACEHOLDER = 'https://agent.not-there.example/run'
const children = new Set<ChildProcess>()

const running = usingOwnLocal()
const laptop = usingReceiver()
const tool = scratchFolder('cli-')
beforeAll(() => buildCliPackage(tool.folder))
afterAll(() => tool.remove())
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
  children.clear()
  laptop.answer({ kind: 'answer' })
  laptop.requests.length = 0
})

/** Runs the built tool in its own process. */
const start = (args: string[], env: Record<string, string> = {}, input = '') => {
  const child = spawn(process.execPath, [path.join(tool.folder, 'aip.js'), ...args], {
    cwd: running.dataDir,
    env: { PATH: process.env.PATH ?? '', AIP_CONFIG: tool.folder, PLATFORM_URL: running.baseUrl, ...env },
  })
  children.add(child)
  const shown = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    shown.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    shown.stderr += chunk
  })
  child.stdin.end(input)
  const exit = once(child, 'close').then(([code]) => code as number)
  const lines = () =>
    shown.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return { child, shown, exit, lines }
}

const run = async (args: string[], env?: Record<string, string>, input?: string) => {
  const { shown, exit, lines } = start(args, env, input)
  return { code: await exit, ...shown, lines }
}

const keyOf = ({ headers, app }: Agent) => ({ DEVELOPER_KEY: headers['x-developer-key'], APP_ID: app.id })

const listening = async (agent: Agent, args: string[] = ['--forward-to', laptop.url]) => {
  const tool = start(['listen', '--json', ...args], keyOf(agent))
  await until(() => (tool.shown.stdout.includes('"ready"') ? true : undefined))
  return { ...tool, requests: () => tool.lines().filter(({ type }) => type === 'request') }
}

const testRun = ({ app, headers }: Agent, input: object = {}) =>
  send(running.baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/test-run`, { headers, body: { input } })

const SUCCEEDED = succeeds({ output: { answer: 42 } })

const MANIFEST = {
  id: 'acme.helper',
  version: '1.0.0',
  name: 'Helper',
  summary: 'Helps.',
  runtime: { type: 'webhook', endpoint: 'https://agent.example.com/run' },
}

describe('aip validate', () => {
  const NOWHERE = { PLATFORM_URL: 'http://127.0.0.1:9' }

  it('exits with 0 for a valid manifest, without a platform or a key', async () => {
    const { code, stdout } = await run(['validate', path.join(ROOT, 'examples/sdk/afai.agent.json')], NOWHERE)
    expect([code, stdout]).toEqual([0, expect.stringContaining('is valid')])
  })

  it('exits with 1 for an invalid one, and shows each error’s place, message and fix', async () => {
    const wrong = JSON.stringify({
      ...MANIFEST,
      version: 'one',
      runtime: { type: 'webhook', endpoint: 'http://10.0.0.1/' },
    })
    const { code, lines } = await run(['validate', '--json', '-'], NOWHERE, wrong)
    const [report] = lines()
    expect([code, report.valid]).toEqual([1, false])
    expect(report.errors.map((error: { path: string }) => error.path)).toEqual(['/runtime/endpoint', '/version'])
    const readable = await run(['validate', '-'], NOWHERE, wrong)
    for (const { path: at, message, fix } of report.errors) {
      for (const text of [at, message, fix]) expect(readable.stdout).toContain(text)
    }
    const { body } = await send(running.baseUrl, 'POST', '/api/v1/dev/manifest/validate', {
      body: wrong,
      headers: { 'content-type': 'application/json' },
    })
    expect(body).toEqual(report)
  })

  it('exits with 1 for invalid JSON, and with 2 for an unreadable file or wrong usage', async () => {
    writeFileSync(path.join(running.dataDir, 'broken.json'), '{')
    expect((await run(['validate', 'broken.json'])).code).toBe(1)
    expect((await run(['validate', 'missing.json'])).code).toBe(2)
    expect((await run(['validate'])).code).toBe(2)
    expect((await run(['validate', '--surely-not', 'broken.json'])).code).toBe(2)
    expect((await run(['surely-not'])).code).toBe(2)
  })

  it('accepts addresses on this machine only with --local', async () => {
    const local = JSON.stringify({ ...MANIFEST, runtime: { type: 'webhook', endpoint: 'http://127.0.0.1:8787/run' } })
    expect((await run(['validate', '-'], NOWHERE, local)).code).toBe(1)
    expect((await run(['validate', '--local', '-'], NOWHERE, local)).code).toBe(0)
  })
})

it('every command has help with examples', async () => {
  const overview = (await run(['--help'])).stdout
  const usages = [...overview.matchAll(/^ {2}([a-z]+(?:-[a-z]+)*(?: [a-z]+)?)\b.* {2,}[A-Z]/gm)].map(
    ([, name = '']) => name,
  )
  expect(usages).toHaveLength(35)
  const shown = sampleOf(usages, 4)
  const helps = await Promise.all(shown.map((name) => run([...name.split(' '), '--help'])))
  for (const [n, { code, stdout }] of helps.entries()) {
    expect([code, stdout]).toEqual([0, expect.stringContaining('Examples:')])
    expect(stdout).toContain(`aip ${shown[n]}`)
  }
})

describe('signing in', () => {
  const place = () => {
    const folder = path.join(tool.folder, `config-${Math.random().toString(36).slice(2)}`)
    return { AIP_CONFIG: folder, file: path.join(folder, 'profiles.json') }
  }
  /** Begins a sign-in, and returns what its address holds. */
  const begin = async (env: Record<string, string>) => {
    const login = start(['login', '--no-browser'], env)
    const address = await until(() => /http\S+#\/terminal\?\S+/.exec(login.shown.stderr)?.[0])
    const query = new URLSearchParams(address.split('?')[1])
    return { login, key: query.get('key') ?? '', callback: `http://127.0.0.1:${query.get('port')}/signed-in` }
  }

  it('takes the key that the portal encrypted for it, and keeps it in a file that only its owner can read', async () => {
    const { headers } = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    const api_key = headers['x-developer-key']
    const { AIP_CONFIG, file } = place()
    const { login, key, callback } = await begin({ AIP_CONFIG })
    expect(login.shown.stderr).toContain(await codeOf(key))
    for (const junk of ['', '?sealed=a.b.c', '?sealed=', '?denied=maybe']) {
      expect((await fetch(callback + junk, { redirect: 'manual' })).status).toBe(400)
    }
    const sealed = await seal(key, { api_key, email: 'ada@example.com', expires_at: null })
    const back = await fetch(`${callback}?${new URLSearchParams({ sealed })}`, { redirect: 'manual' })
    expect(back.headers.get('location')).toBe(`${running.baseUrl}/developers#/terminal/done`)
    expect(await login.exit).toBe(0)
    expect(login.shown.stdout + login.shown.stderr).not.toContain(api_key)
    expect([statSync(file).mode & 0o777, statSync(AIP_CONFIG).mode & 0o777]).toEqual([0o600, 0o700])
    const who = (await run(['whoami', '--json'], { AIP_CONFIG })).lines()[0]
    expect(who).toMatchObject({ current: 'default', developer: { name: 'Ada' } })
    expect((await run(['logout'], { AIP_CONFIG })).code).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain(api_key)
    expect((await run(['whoami'], { AIP_CONFIG })).code).toBe(2)
  })

  it('that was refused in the portal exits with 1 and keeps nothing', async () => {
    const { AIP_CONFIG } = place()
    const { login, callback } = await begin({ AIP_CONFIG })
    await fetch(`${callback}?denied=true`, { redirect: 'manual' })
    expect([await login.exit, login.shown.stderr]).toEqual([1, expect.stringContaining('refused')])
    expect((await run(['whoami'], { AIP_CONFIG })).code).toBe(2)
  })

  it('with a key on standard input, and never sends a profile’s key to another platform', async () => {
    const { headers } = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    const { AIP_CONFIG } = place()
    const wrong = await run(['login', '--with-key'], { AIP_CONFIG }, `dvk_${'x'.repeat(43)}`)
    expect(wrong.code).toBe(1)
    const signedIn = await run(['login', '--with-key', '--profile', 'work'], { AIP_CONFIG }, headers['x-developer-key'])
    expect(signedIn).toMatchObject({ code: 0, stdout: expect.stringContaining('profile work') })
    expect((await run(['apps'], { AIP_CONFIG, PLATFORM_URL: '' })).code).toBe(0)
    const elsewhere = await run(['apps', '--base-url', laptop.url], { AIP_CONFIG })
    expect([elsewhere.code, laptop.requests.length]).toEqual([2, 0])
  })
})

describe('aip init', () => {
  const account = async () => {
    const { headers } = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    return { DEVELOPER_KEY: headers['x-developer-key'] }
  }
  const folderFor = (name: string) => path.join(tool.folder, name)

  it('writes a project whose secrets only its owner can read, and whose app the other commands find', async () => {
    const env = await account()
    const folder = folderFor(`greeter-${Date.now()}`)
    const made = await run(['init', folder, '--py', '--json'], env)
    expect([made.code, made.stderr]).toEqual([0, ''])
    const [{ app_id, files }] = made.lines()
    expect(files).toEqual(['agent.json', 'requirements.txt', 'agent.py', 'aip.json', '.env', '.gitignore'])
    expect(statSync(path.join(folder, '.env')).mode & 0o777).toBe(0o600)
    expect(readFileSync(path.join(folder, '.env'), 'utf8')).toMatch(
      /^CLIENT_ID=app_.*\nCLIENT_SECRET=.+\nSIGNING_SECRET=agsec_/,
    )
    expect(readFileSync(path.join(folder, '.gitignore'), 'utf8')).toContain('.env\n')
    const inFolder = spawn(process.execPath, [path.join(tool.folder, 'aip.js'), 'apps', 'show', '--json'], {
      cwd: folder,
      env: { PLATFORM_URL: running.baseUrl, ...env },
    })
    let shown = ''
    inFolder.stdout.on('data', (chunk) => (shown += chunk))
    await once(inFolder, 'close')
    expect(JSON.parse(shown)).toMatchObject({ id: app_id, status: 'draft' })
    expect((await run(['validate', path.join(folder, 'agent.json')])).code).toBe(0)
  })

  it('writes an A2A agent with --a2a, which greets on the platform once its card is published', async () => {
    const env = await account()
    const folder = folderFor(`a2a-greeter-${Date.now()}`)
    const port = String(await freePort())
    const address = `http://127.0.0.1:${port}`
    const made = await run(['init', folder, '--a2a', '--endpoint', `${address}/`, '--json'], env)
    expect(made.code).toBe(0)
    const [{ files }] = made.lines()
    expect(files).toEqual(['agent.json', 'package.json', 'agent.ts', 'README.md', 'aip.json', '.env', '.gitignore'])
    expect(JSON.parse(readFileSync(path.join(folder, 'agent.json'), 'utf8')).runtime).toEqual({
      type: 'a2a',
      card_url: `${address}/.well-known/agent-card.json`,
    })
    expect((await run(['validate', '--local', path.join(folder, 'agent.json')])).code).toBe(0)
    const { dependencies } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const { devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
    // It runs here with the packages that it names.
    for (const [name, range] of Object.entries(dependencies)) {
      expect(String(range).split('.')[0], name).toBe(`^${devDependencies[name].split('.')[0]}`)
    }
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
    const agent = spawn(process.execPath, ['--env-file=.env', 'agent.ts'], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', PORT: port },
      stdio: 'ignore',
    })
    children.add(agent)
    await until(() =>
      fetch(`${address}/.well-known/agent-card.json`).then(
        () => true as const,
        () => undefined,
      ),
    )
    const app = { ...env, APP_ID: JSON.parse(readFileSync(path.join(folder, 'aip.json'), 'utf8')).app_id }
    expect(await run(['publish', path.join(folder, 'agent.json')], app)).toMatchObject({ code: 0 })
    const greeted = await run(['test-run', '--follow', '--input', '{"name": "Ada"}'], app)
    for (const text of ['succeeded', 'Hello, Ada!']) expect(greeted.stdout).toContain(text)
  })

  it('says which option chooses another slug if one is taken', async () => {
    const [first, second] = [await account(), await account()]
    const name = `taken-${Date.now()}`
    expect((await run(['init', folderFor(name), '--py'], first)).code).toBe(0)
    const refused = await run(['init', folderFor(`${name}-2`), '--py', '--slug', name], second)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('with --slug.') })
  })

  it('replaces no file, and creates no app when it refuses', async () => {
    const env = await account()
    const folder = folderFor('taken')
    mkdirSync(folder)
    writeFileSync(path.join(folder, 'agent.ts'), 'mine')
    const before = (await run(['apps', '--json'], env)).lines().length
    expect(await run(['init', folder, '--ts'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('agent.ts'),
    })
    expect((await run(['init', folder], env)).code).toBe(2)
    expect((await run(['init', folder, '--ts', '--a2a'], env)).code).toBe(2)
    expect((await run(['apps', '--json'], env)).lines()).toHaveLength(before)
    expect(readFileSync(path.join(folder, 'agent.ts'), 'utf8')).toBe('mine')
  })
})

describe('aip completion', () => {
  const complete = async (words: string[]) => {
    const { stdout } = await run(['completion', 'bash'])
    const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => JSON.stringify(word)).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_aip\necho "\${COMPREPLY[*]}"`
    const child = spawn('bash', ['-c', script])
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    await once(child, 'close')
    return output.trim()
  }

  it('for bash suggests commands, second words, arguments and options', async () => {
    expect(await complete(['aip', 'pub'])).toBe('publish')
    expect(await complete(['aip', 'runs', ''])).toBe('show')
    expect(await complete(['aip', 'secrets', 'rotate', 's'])).toBe('signing')
    expect(await complete(['aip', 'listen', '--forward-w'])).toBe('--forward-webhooks-to')
  })

  it('is printed for zsh and fish, too, and for no other shell', async () => {
    for (const shell of ['zsh', 'fish']) expect((await run(['completion', shell])).stdout).toContain('test-run')
    expect((await run(['completion', 'cmd'])).code).toBe(2)
  })
})

describe('from a manifest to review', () => {
  it('publish, test-run, promote and submit bring an app to in_review, and apps shows it', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: laptop.url })
    const env = keyOf(agent)
    const [listed] = (await run(['apps', '--json'], env)).lines()
    expect(listed).toMatchObject({ id: agent.app.id, status: 'draft', promoted_version: '1.0.0' })

    const { items } = await must(running.baseUrl, 'GET', `/api/v1/dev/apps/${agent.app.id}/versions`, agent)
    const file = path.join(running.dataDir, 'agent.json')
    const write = (change: object) => writeFileSync(file, JSON.stringify({ ...items[0].manifest, ...change }))
    write({ version: 'two' })
    const invalid = await run(['publish', file], env)
    expect([invalid.code, invalid.stderr]).toEqual([1, expect.stringContaining('/version')])
    write({ version: '2.0.0' })
    expect(await run(['publish', file], env)).toMatchObject({ code: 0, stdout: expect.stringContaining('v2.0.0') })
    const again = await run(['publish', file], env)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('[version_exists]')])
    expect((await run(['publish', 'missing.json'], env)).code).toBe(2)
    expect((await run(['promote', '2.0.0'], env)).code).toBe(0)

    const early = await run(['submit'], env)
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('missing test_run')])
    laptop.answer({ kind: 'answer', status: 500 })
    const failed = await run(['test-run'], env)
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('failed run_')])
    laptop.answer(SUCCEEDED)
    const ran = await run(['test-run', '--json', '--input', '{"question":"Zwei?"}'], env)
    expect(ran.code).toBe(0)
    expect(ran.lines()[0]).toMatchObject({ agent: { version: '2.0.0' }, run: { output: { answer: 42 } } })
    expect(JSON.parse(String(laptop.requests.at(-1)?.body)).run.input).toEqual({ question: 'Zwei?' })

    const listing = [
      '--summary',
      'Helps.',
      '--description',
      'Helps with tests.',
      '--support-email',
      'help@acme.example',
    ]
    const urls = ['--logo-url', 'https://acme.example/logo.png', '--privacy-url', 'https://acme.example/privacy']
    expect((await run(['apps', 'update', ...listing, ...urls], env)).code).toBe(0)
    expect(await run(['submit'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining('in_review') })
    expect((await run(['apps'], env)).stdout).toMatch(/in_review +v2\.0\.0/)
  })
})

describe('aip screenshots', () => {
  it('adds, moves and removes the images of a listing, and says why it refuses one', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: laptop.url })
    const env = keyOf(agent)
    const file = (name: string, content: Buffer): string => {
      const at = path.join(running.dataDir, name)
      writeFileSync(at, content)
      return at
    }
    const captions = async () => (await run(['screenshots', '--json'], env)).lines().map(({ caption }) => caption)
    const none = await run(['screenshots'], env)
    expect([none.code, none.stdout, none.stderr]).toEqual([0, '', expect.stringContaining('aip screenshots add')])
    for (const [i, caption] of ['One', 'Two', 'Three'].entries()) {
      const image = file(`${caption}.png`, pngOf(320 + i, [i, 2, 3]))
      expect((await run(['screenshots', 'add', image, '--caption', caption], env)).code).toBe(0)
    }
    expect((await run(['screenshots'], env)).stdout).toBe(
      ' 1  320 × 320    One\n 2  321 × 321    Two\n 3  322 × 322    Three\n',
    )
    expect((await run(['screenshots', 'move', '3', '1'], env)).code).toBe(0)
    expect(await captions()).toEqual(['Three', 'One', 'Two'])
    expect((await run(['screenshots', 'remove', '2'], env)).code).toBe(0)
    expect(await captions()).toEqual(['Three', 'Two'])
    const app = await must(running.baseUrl, 'GET', `/api/v1/dev/apps/${agent.app.id}`, agent)
    expect(app.screenshots).toMatchObject([{ caption: 'Three', width: 322 }, { caption: 'Two' }])

    const small = await run(['screenshots', 'add', file('small.png', pngOf(10, [1, 2, 3])), '--caption', 'x'], env)
    expect([small.code, small.stderr]).toEqual([1, expect.stringContaining('10 × 10 pixels')])
    for (const [args, why] of [
      [['screenshots', 'add', file('x.png', pngOf(320, [9, 9, 9]))], '--caption'],
      [['screenshots', 'add', 'missing.png', '--caption', 'x'], 'missing.png'],
      [['screenshots', 'remove', '3'], 'Positions are 1 to 2.'],
      [['screenshots', 'move', '1', 'two'], 'Positions are 1 to 2.'],
    ] as const) {
      const { code, stderr } = await run([...args], env)
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)])
    }
    expect(await captions()).toEqual(['Three', 'Two'])
  })
})

describe('aip listen', () => {
  it('brings a test run to the laptop with the bytes and signature of a real one, and returns its answer', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    const tool = await listening(agent, ['--forward-to', `${laptop.url}/my/agent?x=1`])
    laptop.answer(SUCCEEDED)
    const { body } = await testRun(agent, { question: 'Wie häufig? 📦' })
    expect(body.run).toMatchObject({ status: 'succeeded', output: { answer: 42 } })
    const [request] = laptop.requests
    expect(request?.path).toBe('/my/agent?x=1')
    const signature = String(request?.headers['x-svc-signature'])
    expect(verifySvc(agent.app.signing_secret, signature, request?.body ?? '', Date.now() / 1_000)).toBe(true)
    expect(JSON.parse(String(request?.body)).run.input.question).toBe('Wie häufig? 📦')
    const [line] = await until(() => (tool.requests().length > 0 ? tool.requests() : undefined))
    expect(line).toMatchObject({ event: 'run.execute', run_id: body.run.id, status: 200, failed: false, refused: null })

    tool.child.kill('SIGINT')
    expect(await tool.exit).toBe(0)
    expect(tool.shown.stdout + tool.shown.stderr).not.toContain(agent.headers['x-developer-key'])
    const callback = JSON.parse(String(request?.body)).callback.token
    expect(tool.shown.stdout + tool.shown.stderr).not.toContain(callback)
  })

  it('an unreachable local server counts as an unreachable agent', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    const unreachable = await startReceiver()
    await unreachable.close()
    const tool = await listening(agent, ['--forward-to', unreachable.url])
    const { body } = await testRun(agent)
    expect(body.run).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    const [line] = await until(() => (tool.requests().length > 0 ? tool.requests() : undefined))
    expect(line).toMatchObject({ failure: 'connect', failed: true })
  })

  it('forwards webhooks to their own address; trigger creates them, replay sends one again', async () => {
    const scopes = ['tasks:read', 'webhooks:manage']
    const agent = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER, scopes })
    const token = await sandboxToken(running.baseUrl, agent)
    const webhook = await must(running.baseUrl, 'POST', '/api/v1/webhooks', {
      token,
      body: { url: 'https://hooks.not-there.example/in', events: ['task.*'] },
    })
    const hooks = await startReceiver()
    const tool = await listening(agent, ['--forward-to', laptop.url, '--forward-webhooks-to', `${hooks.url}/hooks`])
    const triggered = await run(['trigger', 'task.created', '--json', '--data', '{"title":"Zählen"}'], keyOf(agent))
    expect(triggered.code).toBe(0)
    const [event] = triggered.lines()
    const [first] = await hooks.received(1)
    expect(JSON.parse(String(first?.body))).toEqual(event)
    expect(event).toMatchObject({ type: 'task.created', test: true, data: { title: 'Zählen' } })
    const verified = (request = first) =>
      verifySvc(webhook.secret, String(request?.headers['x-svc-signature']), request?.body ?? '', Date.now() / 1_000)
    expect([verified(), first?.path, laptop.requests.length]).toEqual([true, '/hooks', 0])

    const [line] = await until(() => (tool.requests().length > 0 ? tool.requests() : undefined))
    const replayed = await until(async () => {
      const made = await run(['replay', line.delivery_id, '--json'], keyOf(agent))
      return made.code === 0 ? made : undefined
    })
    expect(replayed.lines()[0]).toMatchObject({ id: line.delivery_id })
    const [, second] = await hooks.received(2)
    expect(second?.headers['webhook-id']).toBe(event.id)
    expect(verified(second)).toBe(true)
    await hooks.close()

    // The receiver has its request a moment before the platform has stored the answer.
    const delivery = await until(async () => {
      const [newest] = (await run(['deliveries', '--json'], keyOf(agent))).lines()
      return newest.status === 'pending' ? undefined : newest
    })
    expect(delivery).toMatchObject({ id: line.delivery_id, event_type: 'task.created', status: 'succeeded' })
    expect((await run(['deliveries', '--status', 'failed'], keyOf(agent))).stdout).toBe('')
    expect((await run(['deliveries', '--type', 'run.*'], keyOf(agent))).stdout).toBe('')
    expect((await run(['deliveries', '--type', 'run.*,task.*'], keyOf(agent))).stdout).toContain(line.delivery_id)
    const unknown = await run(['replay', 'whd_01kf0rdqg00000000000000001'], keyOf(agent))
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('has no delivery whd_')])
  })

  it('with --events receives events that nobody subscribed to, shows their bodies, and leaves no subscription', async () => {
    const scopes = ['tasks:read', 'webhooks:manage']
    const agent = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER, scopes })
    const unheard = await run(['trigger', 'task.created'], keyOf(agent))
    expect(unheard).toMatchObject({ code: 1, stderr: expect.stringContaining('No active webhook subscription') })
    const args = ['--forward-to', `${laptop.url}/hooks`, '--events', 'task.*']
    const tool = await listening(agent, args)
    const secret = tool.lines().find(({ type }) => type === 'subscribed').secret
    expect((await run(['trigger', 'task.created'], keyOf(agent))).code).toBe(0)
    const [request] = await laptop.received(1)
    const signature = String(request?.headers['x-svc-signature'])
    expect(verifySvc(secret, signature, request?.body ?? '', Date.now() / 1_000)).toBe(true)
    const [line] = await until(() => (tool.requests().length > 0 ? tool.requests() : undefined))
    expect(line).toMatchObject({ kind: 'webhook', request: { type: 'task.created', test: true }, response: null })
    tool.child.kill('SIGINT')
    expect(await tool.exit).toBe(0)
    const token = await sandboxToken(running.baseUrl, agent)
    expect((await must(running.baseUrl, 'GET', '/api/v1/webhooks', { token })).items).toEqual([])
  })

  it('a newer listener takes over, and the older one says so and ends', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    const older = await listening(agent)
    await listening(agent)
    expect(await older.exit).toBe(1)
    expect(older.shown.stderr).toContain('took over')
    laptop.answer(SUCCEEDED)
    expect((await testRun(agent)).body.run.status).toBe('succeeded')
    expect(laptop.requests).toHaveLength(1)
  })

  it('survives a restart of the platform', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    await listening(agent)
    laptop.answer(SUCCEEDED)
    await running.stop()
    await sleep(300)
    await running.startAgain()
    await until(async () => {
      const { body } = await testRun(agent)
      return body?.run?.status === 'succeeded' ? true : undefined
    })
    expect(laptop.requests.length).toBeGreaterThan(0)
  })
})

describe('aip test-run --follow', () => {
  it('shows each step when it happens, and runs show shows them afterwards', async () => {
    const scopes = ['runs:read', 'runs:write']
    const agent = await newAgent(running.baseUrl, { endpoint: laptop.url, scopes })
    laptop.next({ kind: 'answer', status: 202 })
    const tool = start(['test-run', '--follow'], keyOf(agent))
    const [request] = await laptop.received(1)
    const { run: of, callback } = JSON.parse(String(request?.body))
    const report = (what: string, body: object) =>
      must(running.baseUrl, 'POST', `/api/v1/runs/${of.id}/${what}`, { token: callback.token, body })
    await report('steps', { type: 'message', output: { text: 'Halfway there' } })
    await until(() => (tool.shown.stdout.includes('Halfway there') ? true : undefined))
    expect(tool.child.exitCode).toBe(null)
    await report('complete', { status: 'failed', error_code: 'no_stock', error_message: 'There is nothing in stock.' })
    expect(await tool.exit).toBe(1)
    expect(tool.shown.stdout).toMatch(/failed run_.*\n.*no_stock: There is nothing in stock/)
    expect(tool.shown.stdout.match(/Halfway there/g)).toHaveLength(1)

    const shown = await run(['runs', 'show', of.id], keyOf(agent))
    for (const text of ['failed', 'Halfway there', 'no_stock', 'fix']) expect(shown.stdout).toContain(text)
    const logs = await until(async () => {
      const { stdout } = await run(['logs'], keyOf(agent))
      return stdout.includes(of.id) ? stdout : undefined
    })
    expect(logs).toContain('There is nothing in stock.')
    expect((await run(['runs', 'show', 'run_01kf0rdqg00000000000000001'], keyOf(agent))).code).toBe(1)
    expect((await run(['runs', 'show', 'nothing'], keyOf(agent))).code).toBe(2)
  })
})

describe('aip schedules', () => {
  it('creates, shows, runs, pauses, resumes and deletes a schedule of the sandbox', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: laptop.url })
    laptop.answer(SUCCEEDED)
    const aip = async (...args: string[]) => {
      const { code, stderr, lines } = await run(['schedules', ...args, '--json'], keyOf(agent))
      expect([code, stderr]).toEqual([0, ''])
      return lines()
    }
    const cron = ['--cron', '0 9 * * MON', '--zone', 'Europe/Amsterdam']
    const [made] = await aip('create', 'Week', ...cron, '--input', '{"name": "Lin"}', '--overlap', 'queue')
    expect(made).toMatchObject({
      name: 'Week',
      when: { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' },
      start: { input: { name: 'Lin' } },
      overlap: 'queue',
      status: 'active',
    })
    expect((await aip('next', ...cron))[0].next_times).toEqual(made.next_times)
    const [started] = await aip('run', made.id)
    expect(started).toMatchObject({ trigger: 'schedule', input: { name: 'Lin' } })
    const [{ occurrences }] = await aip('show', made.id)
    expect(occurrences).toMatchObject([{ run: { id: started.id } }])
    expect(await aip('pause', made.id)).toMatchObject([{ status: 'paused', next_times: [] }])
    expect(await aip('list', '--status', 'active')).toEqual([])
    expect(await aip('resume', made.id)).toMatchObject([{ status: 'active' }])
    expect(await aip('list')).toMatchObject([{ id: made.id }])
    const { stdout } = await run(['schedules', 'show', made.id], keyOf(agent))
    expect(stdout).toMatch(/^active.*Week {2}0 9 \* \* MON in Europe\/Amsterdam {2}next Mon /)
    const match = '{"order.kind":"gift"}'
    const [gifts] = await aip('create', 'Gifts', '--event', 'run.*', '--match', '{"status":"succeeded"}')
    expect(gifts).toMatchObject({ when: { event: 'run.*', match: { status: 'succeeded' } }, next_times: [] })
    await aip('delete', gifts.id)
    const refused = await run(['schedules', 'next', '--every', 'PT1H', '--match', match], keyOf(agent))
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--match needs --event')])
    expect(await aip('delete', made.id)).toEqual([{ id: made.id, deleted: true }])
    expect(await aip('list')).toEqual([])
  })

  it('say what is wrong with a time before and after asking the platform', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: laptop.url })
    const both = await run(['schedules', 'next', '--every', 'PT1H', '--cron', '* * * * *'], keyOf(agent))
    expect([both.code, both.stderr]).toEqual([
      2,
      expect.stringContaining('exactly one of --cron, --every, --at and --event'),
    ])
    const wrong = await run(['schedules', 'next', '--cron', '0 9 * * *', '--zone', 'Mars/Base'], keyOf(agent))
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/when\.time_zone.*time zone/)])
    const id = await run(['schedules', 'show', 'week'], keyOf(agent))
    expect([id.code, id.stderr]).toEqual([2, expect.stringContaining('sch_…')])
  })
})

describe('aip secrets rotate', () => {
  it('saves the new secret in a file that only its owner can read, and the agent’s requests are signed with it', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: laptop.url })
    const file = path.join(tool.folder, 'rotated.env')
    writeFileSync(file, 'PORT=8080\nSIGNING_SECRET=agsec_old\n')
    const rotated = await run(['secrets', 'rotate', 'signing', '--save', file], keyOf(agent))
    expect([rotated.code, statSync(file).mode & 0o777]).toEqual([0, 0o600])
    const saved = readFileSync(file, 'utf8')
    const secret = /^PORT=8080\nSIGNING_SECRET=(agsec_.+)\n$/.exec(saved)?.[1] ?? ''
    expect(rotated.stdout).not.toContain(secret)
    laptop.answer(SUCCEEDED)
    await testRun(agent)
    const [request] = laptop.requests
    const signature = String(request?.headers['x-svc-signature'])
    expect(verifySvc(secret, signature, request?.body ?? '', Date.now() / 1_000)).toBe(true)
    const [{ client_secret }] = (await run(['secrets', 'rotate', 'client', '--json'], keyOf(agent))).lines()
    expect(client_secret).toMatch(/^cs_/)
    expect((await run(['secrets', 'rotate', 'other'], keyOf(agent))).code).toBe(2)
  })
})

describe('aip open', () => {
  it('prints the address in the portal, which --json doesn’t open', async () => {
    const env = { ...keyOf(await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })), BROWSER: 'false' }
    const url = async (...args: string[]) => (await run(['open', '--json', ...args], env)).lines()[0].url
    expect(await url('runs')).toBe(`${running.baseUrl}/developers#/apps/${env.APP_ID}/runs`)
    expect(await url('run_01kf0rdqg00000000000000001')).toContain('/runs/run_01kf0rdqg00000000000000001')
    expect(await url('docs')).toBe(`${running.baseUrl}/docs`)
    expect((await run(['open', 'nowhere'], env)).code).toBe(2)
  })
})

describe('aip logs --follow', () => {
  it('shows each run once as it finishes, including one that began before others and ended after them', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: laptop.url })
    laptop.answer(SUCCEEDED)
    const before = (await testRun(agent)).body.run.id
    const token = await sandboxToken(running.baseUrl, agent)
    // It stays active until it is completed.
    laptop.next({ kind: 'answer', status: 202 })
    const long = await must(running.baseUrl, 'POST', '/api/v1/runs', { token, body: {} })
    await laptop.received(2)
    const tool = start(['logs', '--follow', '--json'], keyOf(agent))
    await until(() => (tool.shown.stdout.includes(before) ? true : undefined))
    const after: string[] = []
    for (let n = 0; n < 3; n++) after.push((await testRun(agent)).body.run.id)
    await must(running.baseUrl, 'POST', `/api/v1/runs/${long.id}/cancel`, { token })
    await until(() => (tool.shown.stdout.includes(long.id) ? true : undefined))
    await until(() => (tool.lines().length >= 5 ? true : undefined))
    await sleep(3_500)
    expect(
      tool
        .lines()
        .map(({ run_id }) => run_id)
        .sort(),
    ).toEqual([before, long.id, ...after].sort())
    expect(tool.lines()[0].run_id).toBe(before)
    tool.child.kill('SIGTERM')
    expect(await tool.exit).toBe(0)
  })
})

describe('errors of the API', () => {
  it('are shown with code, fix and request id, and exit with 1; the key is never shown', async () => {
    const env = { DEVELOPER_KEY: `dvk_${'x'.repeat(43)}` }
    const { code, stdout, stderr } = await run(['trigger', 'run.created'], env)
    expect(code).toBe(1)
    for (const text of ['[unauthorized]', 'fix', 'req_']) expect(stderr).toContain(text)
    expect(stdout + stderr).not.toContain(env.DEVELOPER_KEY)
    const machine = await run(['logs', '--json'], env)
    expect(JSON.parse(machine.stderr).error).toMatchObject({
      code: 'unauthorized',
      request_id: expect.stringMatching(/^req_/),
    })
  })

  it('for an unknown event type suggest a known one', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    const { code, stderr } = await run(['trigger', 'run.suceeded'], keyOf(agent))
    expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean run.succeeded?')])
  })

  it('without a key, or with several apps and no choice, the tool says what is missing', async () => {
    expect(await run(['logs'])).toMatchObject({ code: 2, stderr: expect.stringContaining('aip login') })
    const { headers } = await newAgent(running.baseUrl, { endpoint: PLACEHOLDER })
    await must(running.baseUrl, 'POST', '/api/v1/dev/apps', {
      headers,
      body: { slug: `second-${Date.now()}`, name: 'Second', type: 'agent', redirect_uris: [], requested_scopes: [] },
    })
    const several = await run(['logs'], { DEVELOPER_KEY: headers['x-developer-key'] })
    expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining('--app') })
  })
})
