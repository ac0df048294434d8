import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { signStandard, signSvc, standardSecret } from '#shared/kernel/signatures.ts'
import { type Agent, must, newAgent, send, until } from './support.ts'

/** An agent in a process of its own, and its app. */
interface Started {
  agent: Agent
  url: string
  output(): string
}

/** Environment of the test's agent, which prints `listening` once it is ready. */
export interface AgentEnv {
  SIGNING_SECRET: string
  PORT: string
  /** True if the agent is called again after decisions. */
  RESUME: 'yes' | 'no'
}

/** Tests what every SDK promises, with an agent that does the same in each language (`input.mode`). */
export const testSdkAgent = (running: { baseUrl: string }, spawnAgent: (env: AgentEnv) => ChildProcess): void => {
  const children: ChildProcess[] = []
  afterAll(async () => {
    for (const child of children) {
      if (child.exitCode !== null) continue
      const ended = once(child, 'close')
      child.kill()
      await ended
    }
  })

  const start = async (runtime: { resume: boolean }): Promise<Started> => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/`
    const agent = await newAgent(running.baseUrl, {
      runtime: { type: 'webhook', endpoint: url, ...(runtime.resume && { resume: true }) },
      scopes: ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke'],
    })
    const child = spawnAgent({
      SIGNING_SECRET: agent.app.signing_secret,
      PORT: String(port),
      RESUME: runtime.resume ? 'yes' : 'no',
    })
    children.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (output += piece))
    await until(() => {
      if (child.exitCode !== null) throw new Error(output)
      return output.includes('listening') || undefined
    })
    await until(async () =>
      fetch(url).then(
        () => true,
        () => undefined,
      ),
    )
    return { agent, url, output: () => output }
  }

  /** Starts a test run without waiting for its end. */
  const begin = async ({ agent }: Started, input: object): Promise<string> => {
    const { access_token } = await must(running.baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/sandbox-token`, {
      headers: agent.headers,
    })
    const { id } = await must(running.baseUrl, 'POST', '/api/v1/runs', { token: access_token, body: { input } })
    return id
  }

  const testRun = async ({ agent }: Started, input: object) =>
    (
      await must(running.baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/test-run`, {
        headers: agent.headers,
        body: { input },
      })
    ).run

  const person = async ({ agent }: Started): Promise<string> =>
    (
      await must(running.baseUrl, 'POST', '/console/session', {
        body: { user: `person-${randomBytes(5).toString('hex')}`, workspace: agent.sandboxId },
      })
    ).token

  const read = (token: string, id: string) => must(running.baseUrl, 'GET', `/console/runs/${id}`, { token })
  const ended = (token: string, id: string) =>
    until(async () => {
      const shown = await read(token, id)
      return shown.finished_at === null ? undefined : shown
    })

  const decide = async (token: string, id: string, decision: 'approve' | 'reject') => {
    const step = await until(async () =>
      (await read(token, id)).steps.find(
        (one: { type: string; status: string }) => one.type === 'approval' && one.status === 'pending',
      ),
    )
    await must(running.baseUrl, 'POST', `/console/runs/${id}/steps/${step.id}/decision`, { token, body: { decision } })
  }

  const answer = async (token: string, id: string, content: object) => {
    const key = await until(async () => {
      const { steps } = await read(token, id)
      const asked = steps.find(
        (one: { type: string; status: string }) => one.type === 'input_request' && one.status === 'pending',
      )
      return asked && Object.keys(asked.output.input_requests)[0]
    })
    await must(running.baseUrl, 'POST', `/console/runs/${id}/input`, {
      token,
      body: { responses: { [key]: { action: 'accept', content } } },
    })
  }

  describe('an agent of the SDK', () => {
    let one: Started
    let token: string
    beforeAll(async () => {
      one = await start({ resume: false })
      token = await person(one)
    })

    it('answers at once, reports steps and passes the API’s answers on', async () => {
      expect(await testRun(one, { mode: 'step' })).toMatchObject({
        status: 'succeeded',
        output: { text: 'Hello!', start: 1 },
        steps: [{ type: 'message', output: { text: 'Halfway there' } }],
      })
      expect(await testRun(one, {})).toMatchObject({
        status: 'succeeded',
        output: { app: expect.stringMatching(/^agent-/) },
      })
    })

    it('fails with its own code, or without details of a bug', async () => {
      expect(await testRun(one, { mode: 'code' })).toMatchObject({ status: 'failed', error_code: 'no_stock' })
      const failed = await testRun(one, { mode: 'bug' })
      expect(failed).toMatchObject({ status: 'failed', error_code: 'agent_failed' })
      expect(JSON.stringify(failed)).not.toContain('secret detail')
      expect(one.output()).toContain('secret detail')
    })

    it.each(['value', 'nan', 'large', 'text'])(
      'fails if its answer can’t be sent (%s), at once and late',
      async (kind) => {
        for (const late of [false, true]) {
          const failed = await ended(token, await begin(one, { mode: 'unsendable', kind, late }))
          expect(failed).toMatchObject({ status: 'failed', error_code: 'agent_invalid_response' })
          if (kind !== 'text') expect(failed.error_message).toContain(kind === 'large' ? '1 MiB' : 'output.items[0].it')
        }
      },
    )

    it('completes work that takes longer through the API, and work that completed itself once', async () => {
      expect(await testRun(one, { mode: 'long' })).toMatchObject({ status: 'succeeded', output: { late: true } })
      expect(await testRun(one, { mode: 'complete' })).toMatchObject({ output: { early: true }, cost_units: 3 })
    })

    it('waits for a person who refuses a call', async () => {
      const id = await begin(one, { mode: 'fetch' })
      await decide(token, id, 'reject')
      expect(await ended(token, id)).toMatchObject({
        status: 'succeeded',
        output: { start: 1, outcome: 'rejected', receipt: 'string' },
      })
    })

    it('notices that its run was cancelled', async () => {
      const id = await begin(one, { mode: 'endless' })
      await until(async () => ((await read(token, id)).status === 'running' ? true : undefined))
      await must(running.baseUrl, 'POST', `/console/runs/${id}/cancel`, { token }).catch(async () => {
        const { access_token } = await must(
          running.baseUrl,
          'POST',
          `/api/v1/dev/apps/${one.agent.app.id}/sandbox-token`,
          {
            headers: one.agent.headers,
          },
        )
        await must(running.baseUrl, 'POST', `/api/v1/runs/${id}/cancel`, { token: access_token })
      })
      await until(() => one.output().includes(`aborted ${id}`) || undefined)
    })

    it('takes both signatures, refuses all others, and runs a request that arrives again only once', async () => {
      const { signing_secret } = one.agent.app
      const now = Math.floor(Date.now() / 1_000)
      const body = JSON.stringify({
        type: 'run.execute',
        run: { id: 'run_again', input: { mode: 'code' }, trigger: 'api' },
        installation: { settings: {} },
        callback: { base_url: `${running.baseUrl}/api/v1`, token: 'x', expires_in: 900 },
      })
      const again = body.replace('"type"', '"attempt":2,"type"')
      const post = (headers: object, sent = body) =>
        send(one.url.slice(0, -1), 'POST', '/', {
          body: sent,
          headers: { 'content-type': 'application/json', ...headers },
        })
      const svc = { 'x-svc-signature': signSvc([signing_secret], now, body) }
      const standard = signStandard([standardSecret(signing_secret)], 'run_again', now, body)
      const answers = [
        await post(svc),
        await post(standard),
        await post(svc, body.replace('code', 'step')),
        await post({ 'x-svc-signature': signSvc([signing_secret], now - 400, body) }),
        await post({ 'x-svc-signature': signSvc(['agsec_other'], now, body), ...standard }),
        await post({}),
        await send(one.url.slice(0, -1), 'GET', '/'),
        await post({ 'x-svc-signature': signSvc([signing_secret], now, again) }, again),
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 401, 401, 401, 405, 200])
      expect(answers[1]?.body).toEqual(answers[0]?.body)
      expect(answers.at(-1)?.body).toEqual(answers[0]?.body)
    })
  })

  describe('an agent of the SDK that is called again after decisions', () => {
    it('gets approved results and answers without asking twice', async () => {
      const one = await start({ resume: true })
      const token = await person(one)
      // The sandbox moves to the newest version at a test run.
      await testRun(one, { mode: 'step' })
      const fetched = await begin(one, { mode: 'fetch' })
      await decide(token, fetched, 'approve')
      expect(await ended(token, fetched)).toMatchObject({
        status: 'succeeded',
        output: { start: 2, outcome: 'ok', receipt: 'string' },
      })
      const asked = await begin(one, { mode: 'ask' })
      await answer(token, asked, { name: 'South' })
      await answer(token, asked, { approved: true })
      expect(await ended(token, asked)).toMatchObject({
        status: 'succeeded',
        output: { start: 3, name: 'South', approved: true },
      })
    })
  })
}
