import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { lastResult, MODEL_KEY, type ModelRequest, type ModelServer } from '#testkit/model-server.ts'
import { must, newAgent, sandboxToken, until } from './support.ts'

/** Environment of an agent of a framework, whose model is a scripted one. */
export interface FrameworkEnv {
  SIGNING_SECRET: string
  PORT: string
  OPENAI_BASE_URL: string
  OPENAI_API_KEY: string
}

/** A model that looks at the weather, books a table and says what came of it. */
const planner = (request: ModelRequest) => {
  const results = request.messages.filter(({ role }) => role === 'tool').length
  if (results === 0) return { calls: [{ tool: 'weather', arguments: { city: 'Oslo' } }] }
  if (results === 1) return { calls: [{ tool: 'book_table', arguments: { restaurant: 'Nord', people: 2 } }] }
  return { text: `Told: ${lastResult(request)}` }
}

/** Stops the agents of a file at its end. */
const children = new Set<ChildProcess>()
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null) continue
    child.kill()
    await once(child, 'close')
  }
})

/** Starts an agent in a process of its own, and its app. */
export const startFrameworkAgent = async (
  running: { baseUrl: string },
  model: ModelServer,
  spawnAgent: (env: FrameworkEnv) => ChildProcess,
) => {
  const port = String(await freePort())
  const agent = await newAgent(running.baseUrl, {
    endpoint: `http://127.0.0.1:${port}/`,
    scopes: ['workspace:read', 'runs:read', 'runs:write'],
  })
  const child = spawnAgent({
    SIGNING_SECRET: agent.app.signing_secret,
    PORT: port,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: MODEL_KEY,
  })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (output += piece))
  await until(async () => {
    if (child.exitCode !== null) throw new Error(output)
    return fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => undefined,
    )
  })
  return { agent, output: () => output }
}

/**
 * Tests that an agent of a framework runs on the platform as it is: its tools are steps, and people decide.
 * @param asksText whether people are asked for a text rather than for a yes
 */
export const testFrameworkAgent = (
  running: { baseUrl: string },
  model: ModelServer,
  spawnAgent: (env: FrameworkEnv) => ChildProcess,
  asksText: boolean,
): void => {
  it('runs unchanged: its tools are steps, and it continues with people’s decisions', async () => {
    model.always(planner)
    const { agent, output } = await startFrameworkAgent(running, model, spawnAgent)
    const token = await sandboxToken(running.baseUrl, agent)
    const user = { user: `person-${randomBytes(5).toString('hex')}`, workspace: agent.sandboxId }
    const { token: person } = await must(running.baseUrl, 'POST', '/console/session', { body: user })
    const read = async (id: string) => {
      // A person may ask ten times a second.
      await sleep(150)
      return must(running.baseUrl, 'GET', `/console/runs/${id}`, { token: person })
    }
    const decided = async (content: object) => {
      const input = { text: 'An evening for two in Oslo' }
      const { id } = await must(running.baseUrl, 'POST', '/api/v1/runs', { token, body: { input } })
      const requests = await until(async () => {
        const shown = await read(id)
        if (shown.finished_at !== null) throw new Error(`${JSON.stringify(shown)} ${output()}`)
        return shown.steps.find((step: { type: string }) => step.type === 'input_request')?.output.input_requests
      })
      const [[key, { message }]] = Object.entries<{ message: string }>(requests) as [[string, { message: string }]]
      const body = { responses: { [key]: { action: 'accept', content } } }
      await must(running.baseUrl, 'POST', `/console/runs/${id}/input`, { token: person, body })
      const run = await until(async () => {
        const shown = await read(id)
        return shown.finished_at === null ? undefined : shown
      })
      return { run, message }
    }
    const yes = await decided(asksText ? { text: 'Ada' } : { approved: true })
    expect(yes.message).toContain('Nord')
    expect(yes.run).toMatchObject({
      status: 'succeeded',
      output: { text: expect.stringMatching(/Told: .*Booked at Nord/) },
    })
    const calls = yes.run.steps.filter(({ type }: { type: string }) => type === 'tool_call')
    expect(calls.map(({ output: told }: { output: object }) => told)).toContainEqual({
      tool: 'weather',
      arguments: { city: 'Oslo' },
    })
    expect(model.requests.some(({ messages }) => messages.at(-1)?.content?.includes('An evening for two'))).toBe(true)
    if (asksText) return expect(yes.run.output.text).toContain('Ada')
    const no = await decided({ approved: false })
    expect(no.run.status).toBe('succeeded')
    expect(no.run.output.text).not.toContain('Booked')
  })
}
