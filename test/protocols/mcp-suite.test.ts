import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { DEEP } from '#testkit/sampling.ts'
import { using } from '#testkit/using.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { startConformanceAgent } from './agent.ts'
import { startProxy } from './proxy.ts'

const running = usingLocal()
/** Each has its own limit of calls to agents a minute. */
const CALLERS = 6
const suite = using(
  async () => {
    const agent = await startConformanceAgent(running.baseUrl, CALLERS)
    const proxy = await startProxy(running.baseUrl, agent.tokens)
    return { agent, proxy, url: `${proxy.url}${agent.path}` }
  },
  async ({ agent, proxy }) => {
    await proxy.close()
    await agent.close()
  },
)

const conformance = async (...args: string[]) => {
  const command = path.resolve('node_modules/.bin/conformance')
  const child = spawn(process.execPath, [command, 'server', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((done) => {
    child.on('close', done)
  })
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, out: `${out}${err}` }
}

/** Runs every scenario of a version, those of extensions and drafts included. @returns those that fail */
const failuresFor = async (version: string, expected: string) => {
  const file = `test/protocols/${expected}`
  const args = ['--url', suite.url, '--requirements', version, '--expected-failures', file]
  const { code, out } = await conformance(...args)
  const of = (mark: string) => [...out.matchAll(new RegExp(`^${mark} (\\S+): `, 'gm'))].map(([, scenario]) => scenario)
  const [failed, declared] = [of('✗'), readDeclared(file)]
  const total = /^Total: .*$/m.exec(out)?.[0]
  console.log(`${version}: ${of('✓').length} scenarios passed, ${failed.length} failed. Checks: ${total}`)
  return { code, out, failed, declared }
}

/** Reads the scenarios that the platform is declared to fail. The suite itself fails when one of them begins to pass. */
const readDeclared = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^ {2}- (\S+)$/gm)].map(([, scenario]) => scenario ?? '')

/** The scenario that waits for half a second for a call’s first frame, which a busy machine may miss. */
const HASTY = 'server-stateless'

const passesHasty = async (): Promise<boolean> => {
  const { code } = await conformance('--url', suite.url, '--scenario', HASTY, '--spec-version', '2026-07-28')
  return code === 0
}

// Two minutes together, so that they belong to `npm run test:deep`.
describe.runIf(DEEP)('the official conformance suite passes but for what is declared', () => {
  it('for 2026-07-28', async () => {
    // The first call of a function loads its code, which takes longer.
    await passesHasty()
    const { code, out, failed, declared } = await failuresFor('2026-07-28', 'mcp-2026.yml')
    expect(failed.filter((scenario) => scenario !== HASTY).sort(), out).toEqual(declared.sort())
    if (!failed.includes(HASTY)) return expect(code, out).toBe(0)
    for (let attempt = 0; attempt < 5; attempt++) if (await passesHasty()) return
    expect.unreachable(out)
  }, 900_000)

  it('for 2025-11-25', async () => {
    const { code, out, failed, declared } = await failuresFor('2025-11-25', 'mcp-2025.yml')
    expect(failed.sort(), out).toEqual(declared.sort())
    expect(code, out).toBe(0)
  }, 900_000)

  it('for the handshake of 2025-06-18', async () => {
    const url = `${suite.proxy.url}/mcp`
    const args = ['--scenario', 'server-initialize', '--spec-version', '2025-06-18']
    const { code, out } = await conformance('--url', url, ...args)
    expect(code, out).toBe(0)
  })
})
