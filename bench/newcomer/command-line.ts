import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { freePort } from '#local/free-port.ts'
import { startAgent, stop } from './agent.ts'
import type { Journey, Newcomer } from './journey.ts'
import { install } from './packages.ts'

const run = promisify(execFile)

/** Goes the way of the quickstart with the command-line tool alone. */
export const byCommandLine = async ({ baseUrl, folder, language, packages }: Newcomer): Promise<Journey> => {
  const above = path.dirname(folder)
  const env = { PATH: process.env.PATH ?? '', AIP_CONFIG: path.join(above, 'config'), PLATFORM_URL: baseUrl }
  const tool = path.join(above, 'node_modules/.bin/aip')
  const aip = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [tool, ...args], { cwd: folder, env })).stdout
  const slug = `greeter-${Date.now()}`
  const port = await freePort()

  const start = performance.now()
  const since = (): number => (performance.now() - start) / 1_000
  await install(folder, language, packages, true)
  const installed = since()
  await aip('register', '--email', `${slug}@example.com`, '--name', slug)
  await aip('init', `--${language}`, '--slug', slug)
  await using _agent = await startAgent(folder, language, port)
  await aip('validate')
  await aip('publish')
  await using _listener = await listen(tool, port, folder, env)
  const answer = await aip('test-run', '--follow', '--input', '{"name": "Ada"}')
  if (!answer.includes('Hello, Ada!')) throw new Error(`the test run says: ${answer}`)
  const verified = since()
  await aip('promote', '1.0.0')
  const about = ['--summary', 'Greets people by name.', '--description', 'Give it a name and it greets.']
  const addresses = [
    '--logo-url',
    'https://greeter.example.com/logo.png',
    '--privacy-url',
    'https://greeter.example.com/',
  ]
  await aip('apps', 'update', ...about, ...addresses, '--support-email', 'help@example.com')
  const submitted = await aip('submit')
  if (!submitted.includes('in_review')) throw new Error(`submit says: ${submitted}`)
  return { installed, verified, inReview: since() }
}

/** Forwards the platform's requests to the agent. */
const listen = async (tool: string, port: number, cwd: string, env: NodeJS.ProcessEnv): Promise<AsyncDisposable> => {
  const args = [tool, 'listen', '--forward-to', `127.0.0.1:${port}`]
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ready = (async () => {
    for await (const line of createInterface({ input: child.stderr })) if (line.includes('Listening for')) return
    throw new Error('aip listen ended')
  })()
  await Promise.race([ready, once(child, 'exit')])
  child.stderr.resume()
  return { [Symbol.asyncDispose]: () => stop(child) }
}
