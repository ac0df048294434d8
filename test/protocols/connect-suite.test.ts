import { spawn } from 'node:child_process'
import path from 'node:path'
import { expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { using } from '#testkit/using.ts'
import { must } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { startConformanceAgent } from './agent.ts'
import { consentToHost, newMember } from './people.ts'

const running = usingLocal()
const agent = using(
  () => startConformanceAgent(running.baseUrl),
  (made) => made.close(),
)

/** Runs the suite, and does what it asks a person for: opens the address and consents. */
const conformance = async (resource: string, port: number, clientId: string) => {
  const { baseUrl } = running
  const person = await newMember(baseUrl, agent.agentToken)
  const command = path.resolve('node_modules/.bin/conformance')
  const options = { url: `${baseUrl}/connect`, 'client-id': clientId, resource: baseUrl + resource, port: String(port) }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, [command, 'authorization', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let answering: Promise<unknown> | undefined
  const read = (piece: Buffer): void => {
    out += piece
    const [address] = /^http\S+\/connect\/authorize\?\S+(?=\n)/m.exec(out) ?? []
    if (address === undefined || answering) return
    answering = consentToHost(baseUrl, new URL(address), person).then((back) => fetch(back))
    answering.catch(() => child.kill())
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const code = await new Promise<number | null>((done) => {
    child.on('close', done)
  })
  await answering
  return { code, out }
}

// The suite has no file of expected failures for authorization servers: every scenario passes.
it.each(['/mcp', '/a2a'])(
  'the official conformance suite for authorization servers passes for %s',
  async (resource) => {
    const port = await freePort()
    const body = { client_name: 'Suite', redirect_uris: [`http://127.0.0.1:${port}/callback`] }
    const { client_id } = await must(running.baseUrl, 'POST', '/connect/register', { body })
    const { code, out } = await conformance(resource, port, client_id)
    expect(code, out).toBe(0)
    for (const scenario of ['authorization-server-metadata-endpoint', 'authorization-code-grant'])
      expect(out).toContain(`Running scenario: ${scenario}`)
    // A skipped scenario isn't a failure.
    expect(out).not.toMatch(/skipped/i)
  },
  60_000,
)
