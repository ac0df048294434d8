import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { using } from '#testkit/using.ts'
import { must, until } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { startConformanceAgent } from '../protocols/agent.ts'
import { consentToHost, newMember } from '../protocols/people.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const PACKAGES = ['mcp==2.3.0', 'fastmcp==4.2.3']

const running = usingLocal()
const agent = using(
  () => startConformanceAgent(running.baseUrl, 2),
  (made) => made.close(),
)
let python = ''
removingEnvironments()
beforeAll(async () => {
  python = (await environmentOf('assistants', PACKAGES)).python
})

/** Brings the code to the server that the client has started for it, or is about to. */
const returnTo = (address: string) =>
  until(() =>
    fetch(address).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    ),
  )

describe.each([
  ['mcp', '2026-07-28'],
  ['mcp', 'legacy'],
  ['fastmcp', '2026-07-28'],
  ['fastmcp', 'legacy'],
])('the Python client %s in the mode %s', (library, mode) => {
  it('registers, signs in, pages, calls, follows tasks, answers, steps up, refreshes, and loses access with the membership', async () => {
    const { baseUrl } = running
    const person = await newMember(baseUrl, agent.agentToken)
    const program = path.join(ROOT, 'test/python/assistant.py')
    const child = spawn(python, [program, library, mode, baseUrl, agent.slug], { stdio: ['pipe', 'pipe', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (piece) => (errors += piece))
    const told: Record<string, unknown> = {}
    let consents = 0
    const states: string[][] = []
    for await (const line of createInterface({ input: child.stdout })) {
      const { authorize, leave, ...seen } = JSON.parse(line)
      if (seen.states) states.push(seen.states)
      else Object.assign(told, seen)
      if (authorize !== undefined) {
        consents++
        const back = await consentToHost(baseUrl, new URL(authorize), person)
        if (library === 'fastmcp') await returnTo(back)
        else child.stdin.write(`${back}\n`)
      }
      if (leave) {
        await must(baseUrl, 'DELETE', '/console/workspace/membership', { token: person.token })
        child.stdin.write('left\n')
      }
    }
    expect(told, errors).toEqual({
      tools: ['create_task', 'message_agent', `${agent.slug}__greet`],
      paged: true,
      workspace: true,
      greeted: true,
      answered: true,
      ...(mode !== 'legacy' && { computed: true, confirmed: true }),
      saved: true,
      stepped_up: ['files:write'],
      kept: true,
      refreshed: true,
      rotated: true,
      lost: true,
    })
    // The second is the step-up.
    expect(consents).toBe(2)
    expect(states.map((seen) => seen.at(-1))).toEqual(mode === 'legacy' ? [] : ['completed', 'completed'])
    if (mode !== 'legacy') expect(states[1]).toContain('input_required')
  })
})
