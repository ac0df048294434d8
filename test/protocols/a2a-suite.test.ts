import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { using } from '#testkit/using.ts'
import { must } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { startConformanceAgent } from './agent.ts'
import { startProxy } from './proxy.ts'

const KIT = process.env.A2A_TCK
const running = usingLocal()
/** Each has its own limit of calls to agents a minute. */
const CALLERS = 12

/**
 * Requirements that the kit can't confirm here, with the reason.
 *
 * CORE-SEND-003: an unsupported part must be refused with ContentTypeNotSupportedError. The platform does, but the kit declares
 * no expected error for the requirement, and so expects success.
 */
const EXCEPTIONS = ['CORE-SEND-003']

interface Report {
  per_requirement: Record<string, { level: string; status: string; errors: string[] }>
}

// It needs a checkout of the kit, which is in no package registry: npm run test:a2a.
describe.runIf(KIT)('the compatibility kit of the A2A project', () => {
  const suite = using(
    async () => {
      const agent = await startConformanceAgent(running.baseUrl, CALLERS)
      const proxy = await startProxy(running.baseUrl, agent.tokens)
      const { installation } = await must(running.baseUrl, 'GET', '/api/v1/me', { token: agent.agentToken })
      return { agent, proxy, url: `${proxy.url}/a2a/agents/${installation.id}` }
    },
    async ({ agent, proxy }) => {
      await proxy.close()
      await agent.close()
    },
  )

  it('finds every requirement of the level MUST met over JSON-RPC and HTTP+JSON, but for what is declared', async () => {
    const kit = KIT as string
    const args = ['run_tck.py', '--sut-host', suite.url, '--transport', 'jsonrpc,http_json', '--level', 'must']
    const child = spawn(process.env.A2A_TCK_PYTHON ?? 'python3', args, { cwd: kit, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    const report: Report = JSON.parse(readFileSync(path.join(kit, 'reports/compatibility.json'), 'utf8'))
    const required = Object.entries(report.per_requirement).filter(([, { level }]) => level === 'MUST')
    const failed = required.filter(([, { status }]) => status === 'FAIL').map(([id]) => id)
    console.log(
      out
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-12)
        .join('\n'),
    )
    expect(failed, out + err).toEqual(EXCEPTIONS)
    expect(required.filter(([, { status }]) => status === 'PASS').length).toBeGreaterThan(40)
  }, 600_000)
})
