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
 * Requirements that the kit can't confirm here, with what it reports. The test also fails when one of them begins to pass.
 *
 * CORE-SEND-003: a media type that the agent doesn't support MUST be refused with ContentTypeNotSupportedError (§3.1.1 of the
 * protocol). The platform refuses it, and its card names the types that the agent supports. But the kit declares no expected
 * error for this requirement (tck/requirements/core_operations.py), and so takes every error for a failure.
 *
 * STREAM-SUB-002: a stream MUST end at a terminal state (§3.1.6). The kit subscribes to a task that waits for input, answers it
 * later, and expects the end on the same stream. But a stream also closes at an interrupted state (§11.7), and clients of both
 * versions wait for that: an open stream at INPUT_REQUIRED blocks google-adk for ever. The platform sends the task and closes.
 * Streams that end at a terminal state are in test/functions/a2a/following.test.ts.
 */
const EXCEPTIONS: Record<string, RegExp> = {
  'CORE-SEND-003': /The agent takes text and JSON\./,
  'STREAM-SUB-002': /Stream closed but last event does not carry a terminal state$/,
}

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
    const count = (wanted: string) => required.filter(([, { status }]) => status === wanted).length
    const others = `${count('SKIPPED')} skipped, ${count('NOT TESTED')} without a test in the kit`
    console.log(`Level MUST: ${count('PASS')} passed, ${failed.length} failed (${failed.join(', ')}), ${others}`)
    console.log(out.trimEnd().split('\n').at(-1))
    expect(failed, out + err).toEqual(Object.keys(EXCEPTIONS))
    for (const [id, { errors }] of required)
      for (const error of errors) expect(error, id).toMatch(EXCEPTIONS[id] ?? /^$/)
    expect(count('PASS')).toBeGreaterThan(80)
  }, 600_000)
})
