import { spawn } from 'node:child_process'
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

const requirements = (version: string, failures: string) =>
  conformance('--url', suite.url, '--requirements', version, '--expected-failures', `test/protocols/${failures}`)

/** The scenario that waits for half a second for a call’s first frame, which a busy machine may miss. */
const HASTY = 'server-stateless'

const unexpectedIn = (out: string): string[] =>
  [...out.matchAll(/^ {2}✗ (\S+)$/gm)].map(([, scenario]) => scenario ?? '')

// Two minutes together, so that they belong to `npm run test:deep`.
describe.runIf(DEEP)('the official conformance suite passes but for what is declared', () => {
  it('for 2026-07-28', async () => {
    const { code, out } = await requirements('2026-07-28', 'mcp-2026.yml')
    if (code === 0) return
    expect(unexpectedIn(out), out).toEqual([HASTY])
    for (let attempt = 0; attempt < 5; attempt++) {
      const again = await conformance('--url', suite.url, '--scenario', HASTY, '--spec-version', '2026-07-28')
      if (again.code === 0) return
    }
    expect.unreachable(out)
  })

  it('for 2025-11-25', async () => {
    const { code, out } = await requirements('2025-11-25', 'mcp-2025.yml')
    expect(code, out).toBe(0)
  })

  it('for the handshake of 2025-06-18', async () => {
    const url = `${suite.proxy.url}/mcp`
    const args = ['--scenario', 'server-initialize', '--spec-version', '2025-06-18']
    const { code, out } = await conformance('--url', url, ...args)
    expect(code, out).toBe(0)
  })
})
