import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSigned as isSignedDelivery } from '#examples/sdk/callback.ts'
import { isSigned as isSignedExecute } from '#examples/sdk/main.ts'
import { freePort } from '#local/free-port.ts'
import { verifyStandard, verifySvc } from '#packages/sdk-ts/verify.ts'
import { signSvc } from '#shared/kernel/signatures.ts'
import { run as runCommand } from '#test/deploy/shell.ts'
import { pythonVersion } from './python.ts'
import { type RunningSample, serveSample, startSample, startServer } from './samples.ts'
import { type Agent, consent, must, newAgent, sandboxToken, send, until } from './support.ts'
import { usingLocal } from './using-local.ts'

const SDK = new URL('../../examples/sdk/', import.meta.url)
const fromSdk = (name: string) => JSON.parse(readFileSync(new URL(name, SDK), 'utf8'))

const python = await pythonVersion()
const LANGUAGES = [
  ['TypeScript', 'ts', ''],
  ['Python', 'py', python === undefined ? 'this machine has no python3' : ''],
] as const
for (const [language, , missing] of LANGUAGES) {
  if (missing) process.stderr.write(`The SDK samples in ${language} are skipped: ${missing}\n`)
}

let baseUrl: string
const running = usingLocal()
beforeAll(async () => {
  baseUrl = running.baseUrl
})

const now = () => Math.floor(Date.now() / 1_000)

/** Requests that a sample has to refuse, and valid ones that show nothing else is wrong with the others. */
const requests = (secret: string, body: string): [what: string, status: number, header: string, body: string][] => [
  ['unsigned', 401, '', body],
  ['of another secret', 401, signSvc(['agsec_x'], now(), body), body],
  ['tampered with', 401, signSvc([secret], now(), body), body.replace('Ada', 'Eve')],
  ['old', 401, signSvc([secret], now() - 310, body), body],
  ['from the future', 401, signSvc([secret], now() + 310, body), body],
  ['with two times', 401, `t=1,${signSvc([secret], now(), body)}`, body],
  ['signed', 200, signSvc([secret], now(), body), body],
  ['signed during a rotation', 200, signSvc(['agsec_old', secret], now(), body), body],
]

const post = (url: string, header: string, body: string) =>
  send(url, 'POST', '/', {
    body,
    headers: { 'content-type': 'application/json', ...(header && { 'x-svc-signature': header }) },
  })

describe('the sample manifest', () => {
  it('is valid without changes and without a warning', async () => {
    const report = await must(baseUrl, 'POST', '/api/v1/dev/manifest/validate', { body: fromSdk('afai.agent.json') })
    expect(report).toEqual({ valid: true, errors: [], warnings: [] })
  })

  it('names its schema, which is served', async () => {
    const served = await must(baseUrl, 'GET', '/api/v1/dev/sdk/examples/afai.agent.json')
    expect((await send('', 'GET', served.$schema)).body.$id).toBe(served.$schema)
  })
})

describe('the published test vectors', () => {
  const { vectors, refused } = fromSdk('vectors.json')
  it.each([
    ['main.ts', isSignedExecute],
    ['callback.ts', isSignedDelivery],
    [
      'the client’s verifySvc',
      (secret: string, header: string, body: Uint8Array, at: number) => verifySvc(secret, header, body, { now: at }),
    ],
  ])('%s accepts the valid ones and refuses the others', async (_name, isSigned) => {
    for (const { name, secrets, svc_signature, body, timestamp } of vectors) {
      for (const secret of secrets) {
        expect(await isSigned(secret, svc_signature, Buffer.from(body), timestamp), name).toBe(true)
      }
    }
    for (const one of refused) {
      expect(await isSigned(one.secret, one.svc_signature, Buffer.from(one.body), one.now), one.name).toBe(false)
    }
  })

  it('the client’s verifyStandard accepts the valid ones and refuses the others', async () => {
    const headers = (id: string, timestamp: string, signature: string) => ({
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    })
    for (const { name, secrets, id, timestamp, body, webhook_signature } of vectors) {
      for (const secret of secrets) {
        const sent = headers(id, String(timestamp), webhook_signature)
        expect(await verifyStandard(secret, sent, body, { now: timestamp }), name).toBe(true)
        expect(await verifyStandard(secret, { ...sent, 'webhook-id': 'evt_x' }, body, { now: timestamp }), name).toBe(
          false,
        )
      }
    }
    for (const one of refused) {
      const sent = headers(one.id, one.timestamp, one.webhook_signature)
      expect(await verifyStandard(one.secret, sent, one.body, { now: one.now }), one.name).toBe(false)
    }
  })

  it.skipIf(python === undefined)('main.py and callback.py accept the valid ones and refuse the others', async () => {
    const verdicts = JSON.parse(await runCommand('python3', [path.join(import.meta.dirname, 'python', 'vectors.py')]))
    const expected = {
      accepted: vectors.map(({ secrets }: { secrets: string[] }) => secrets.map(() => true)),
      refused: refused.map(() => false),
    }
    expect(verdicts).toEqual({ main: expected, callback: expected })
  })
})

describe.each(LANGUAGES)('the samples in %s', (_language, extension, missing) => {
  describe.skipIf(missing !== '')(`run${missing && ` (not here: ${missing})`}`, () => {
    describe(`main.${extension}`, () => {
      let agent: Agent
      let sample: RunningSample
      let url: string
      let manifest: { id: string; runtime: { type: string; endpoint: string } }
      beforeAll(async () => {
        const port = await freePort()
        url = `http://127.0.0.1:${port}`
        agent = await newAgent(baseUrl, { endpoint: url })
        sample = await serveSample(`main.${extension}`, {
          PORT: String(port),
          SIGNING_SECRET: agent.app.signing_secret,
        })
        const [version] = (
          await must(baseUrl, 'GET', `/api/v1/dev/apps/${agent.app.id}/versions`, { headers: agent.headers })
        ).items
        manifest = { ...fromSdk('afai.agent.json'), id: version.manifest.id }
        await publish('1.1.0', url)
      })
      afterAll(() => sample?.stop())

      const publish = (version: string, endpoint: string) =>
        must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/versions`, {
          headers: agent.headers,
          body: { ...manifest, version, runtime: { type: 'webhook', endpoint } },
        })
      const testRun = async (input: object) =>
        (
          await must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/test-run`, {
            headers: agent.headers,
            body: { input },
          })
        ).run

      it('answers a run at once', async () => {
        expect(await testRun({ name: 'Ada' })).toMatchObject({
          status: 'succeeded',
          output: { text: 'Hello, Ada!' },
          steps: [{ type: 'message', output: { text: 'Hello, Ada!' } }],
        })
      })

      it('fails a run with its own error code', async () => {
        expect(await testRun({})).toMatchObject({ status: 'failed', error_code: 'name_missing' })
        expect(await testRun({ count_down: 61 })).toMatchObject({ status: 'failed', error_code: 'count_out_of_range' })
      })

      it('accepts a run, reports its steps and completes it through the API', async () => {
        const run = await testRun({ count_down: 2 })
        expect(run).toMatchObject({ status: 'succeeded', output: { text: 'Lift-off!' } })
        expect(run.steps.map((step: { output: { text: string } }) => step.output.text)).toEqual(['2', '1'])
      })

      it('refuses requests without a valid, recent signature', async () => {
        const body = JSON.stringify({
          type: 'run.execute',
          run: { id: 'run_x', input: { name: 'Ada' } },
          installation: { settings: { greeting: 'Good day' } },
        })
        for (const [what, status, header, sent] of requests(agent.app.signing_secret, body)) {
          const answer = await post(url, header, sent)
          expect(answer.status, what).toBe(status)
          if (status === 200) expect(answer.body.output).toEqual({ text: 'Good day, Ada!' })
          else expect(answer.text, what).toBe('')
        }
      })

      it('stops quietly when its run is cancelled', async () => {
        const token = await sandboxToken(baseUrl, agent)
        const run = await must(baseUrl, 'POST', '/api/v1/runs', { token, body: { input: { count_down: 60 } } })
        const read = () => must(baseUrl, 'GET', `/api/v1/runs/${run.id}`, { token })
        await until(async () => ((await read()).steps.length > 0 ? true : undefined))
        await must(baseUrl, 'POST', `/api/v1/runs/${run.id}/cancel`, { token })
        await sleep(1_500)
        expect(sample.errors()).not.toMatch(/completed|Error/)
        expect((await testRun({ name: 'Ada' })).status).toBe('succeeded')
      })

      it('renews a token before it expires, and repeats a call whose answer was lost without doing it twice', async () => {
        const calls: { path: string; key: string; token: string; status: number }[] = []
        const relay = await startServer(async (request, body) => {
          if (request.url === '/') {
            const execute = JSON.parse(body.toString())
            execute.callback = { ...execute.callback, base_url: `${relay.url}/api/v1`, expires_in: 30 }
            const text = JSON.stringify(execute)
            const answer = await post(url, signSvc([agent.app.signing_secret], now(), text), text)
            return { status: answer.status, body: answer.text }
          }
          const { authorization = '', 'idempotency-key': key } = request.headers
          const answer = await send(baseUrl, 'POST', request.url ?? '', {
            body: body.toString(),
            headers: { authorization, 'content-type': 'application/json', 'idempotency-key': String(key) },
          })
          const known = { path: String(request.url?.split('/').at(-1)), key: String(key), token: authorization }
          const isFirstStep = known.path === 'steps' && !calls.some((call) => call.path === 'steps')
          calls.push({ ...known, status: answer.status })
          return isFirstStep ? { status: 503, body: 'lost' } : { status: answer.status, body: answer.text }
        })
        try {
          await publish('1.2.0', relay.url)
          const run = await testRun({ count_down: 2 })
          expect(run).toMatchObject({ status: 'succeeded', output: { text: 'Lift-off!' } })
          expect(run.steps.map((step: { output: { text: string } }) => step.output.text)).toEqual(['2', '1'])
          // The run is over before the relay has the answer to its last call.
          await until(() => calls.find(({ path }) => path === 'complete'))
        } finally {
          await relay.close()
        }
        const paths = calls.map((call) => call.path)
        expect(paths).toEqual(['callback-token', 'steps', 'steps', 'steps', 'complete'])
        const [renewal, lost, repeated, second] = calls
        expect(repeated?.key).toBe(lost?.key)
        expect(second?.key).not.toBe(lost?.key)
        expect(lost?.token).not.toBe(renewal?.token)
      })
    })

    describe(`callback.${extension}`, () => {
      it('handles each real event once, and refuses forged deliveries', async () => {
        const port = await freePort()
        const endpoint = await startServer(async () => ({ status: 200, body: '{"status":"succeeded"}' }))
        const agent = await newAgent(baseUrl, { endpoint: endpoint.url })
        const token = await sandboxToken(baseUrl, agent)
        const url = `http://127.0.0.1:${port}`
        const webhook = await must(baseUrl, 'POST', '/api/v1/webhooks', {
          token,
          body: { url, events: ['run.succeeded'] },
        })
        const sample = await serveSample(`callback.${extension}`, {
          PORT: String(port),
          WEBHOOK_SECRET: webhook.secret,
        })
        try {
          expect(await must(baseUrl, 'POST', `/api/v1/webhooks/${webhook.id}/test`, { token })).toMatchObject({
            delivered: true,
            response_code: 204,
          })
          await until(() => sample.lines.find((line) => /^webhook\.test evt_/.test(line)))

          const run = await must(baseUrl, 'POST', '/api/v1/runs', { token, body: {} })
          await until(() => sample.lines.find((line) => new RegExp(`^${run.id} succeeded in \\d+ ms$`).test(line)))

          // The same event is acknowledged again, but handled only once.
          const before = sample.lines.length
          const path = `/api/v1/webhooks/${webhook.id}/deliveries`
          const delivery = await until(async () =>
            (await must(baseUrl, 'GET', path, { token })).items.find(
              (one: { event_type: string; status: string }) =>
                one.event_type === 'run.succeeded' && one.status === 'succeeded',
            ),
          )
          await must(baseUrl, 'POST', `${path}/${delivery.id}/redeliver`, { token })
          await until(async () => {
            const { items } = await must(baseUrl, 'GET', path, { token })
            const attempts = items
              .filter((one: { event_id: string }) => one.event_id === delivery.event_id)
              .flatMap((one: { attempts: { response_code: number }[] }) => one.attempts)
            return attempts.length === 2 &&
              attempts.every((one: { response_code: number }) => one.response_code === 204)
              ? true
              : undefined
          })
          expect(sample.lines.length).toBe(before)

          const body = JSON.stringify({ id: 'evt_x', type: 'run.created', data: { name: 'Ada' } })
          for (const [what, status, header, sent] of requests(webhook.secret, body)) {
            expect((await post(url, header, sent)).status, what).toBe(status === 200 ? 204 : status)
          }
          await until(() => (sample.lines.length > before ? true : undefined))
          expect(sample.lines.slice(before)).toEqual(['run.created evt_x'])

          // An event whose handling failed is not a duplicate when it is sent again.
          const broken = JSON.stringify({ id: 'evt_y', type: 'run.succeeded' })
          const whole = JSON.stringify({
            id: 'evt_y',
            type: 'run.succeeded',
            data: { run_id: 'run_y', duration_ms: 5 },
          })
          const statuses: number[] = []
          for (const sent of [broken, broken, whole, whole]) {
            statuses.push((await post(url, signSvc([webhook.secret], now(), sent), sent)).status)
          }
          expect(statuses).toEqual([500, 500, 204, 204])
          await until(() => (sample.lines.length > before + 1 ? true : undefined))
          expect(sample.lines.slice(before + 1)).toEqual(['run_y succeeded in 5 ms'])
        } finally {
          await sample.stop()
          await endpoint.close()
        }
      })
    })

    describe(`install.${extension}`, () => {
      const begin = async (change: Record<string, string> = {}) => {
        const redirectUri = `http://127.0.0.1:${await freePort()}/callback`
        const agent = await newAgent(baseUrl, { endpoint: 'http://127.0.0.1:9/never', redirectUri })
        const sample = startSample(`install.${extension}`, {
          BASE_URL: baseUrl,
          CLIENT_ID: agent.app.client_id,
          CLIENT_SECRET: agent.app.client_secret,
          REDIRECT_URI: redirectUri,
          ...change,
        })
        const address = await until(() => sample.lines[1])
        return { agent, sample, redirectUri, authorizeUrl: new URL(address) }
      }

      it('gets tokens with the customer’s consent, refreshes them and says who it is', async () => {
        const { agent, sample, redirectUri, authorizeUrl } = await begin({ SCOPE: 'runs:write workspace:read' })
        const state = authorizeUrl.searchParams.get('state') ?? ''
        for (const forged of [
          { code: 'x', state: 'guessed', iss: baseUrl },
          { code: 'x', iss: baseUrl },
          { code: 'x', state, iss: 'https://other.example' },
          { code: 'x', state },
        ]) {
          const query = new URLSearchParams(forged as Record<string, string>)
          expect((await send('', 'GET', `${redirectUri}?${query}`)).status, String(query)).toBe(400)
        }
        expect((await send('', 'GET', new URL('/favicon.ico', redirectUri).href)).status).toBe(404)
        const back = await consent(baseUrl, authorizeUrl, agent.sandboxId)
        expect((await send('', 'GET', back.href)).status).toBe(200)
        expect(await sample.ended, sample.errors()).toBe(0)
        const [, , granted, me] = sample.lines
        expect(granted).toMatch(/^Granted: (runs:write workspace:read|workspace:read runs:write)$/)
        expect(me).toMatch(/^agent-[0-9a-f]{10} is installed in .+ as ins_[0-9a-z]{26}$/)
        expect(sample.lines.join()).not.toMatch(/eyJ|rft_|cs_/)
      })

      it('reports that a customer denied access', async () => {
        const { agent, sample, authorizeUrl } = await begin()
        const back = await consent(baseUrl, authorizeUrl, agent.sandboxId, 'deny')
        expect((await send('', 'GET', back.href)).status).toBe(200)
        expect(await sample.ended).toBe(1)
        expect(sample.errors().trim()).toBe('The customer denied the request: access_denied')
      })

      it('reports an error of the platform with its fix', async () => {
        const { agent, sample, authorizeUrl } = await begin({ CLIENT_SECRET: 'cs_wrong' })
        const back = await consent(baseUrl, authorizeUrl, agent.sandboxId)
        await send('', 'GET', back.href)
        expect(await sample.ended).toBe(1)
        expect(sample.errors()).toMatch(/^invalid_client: \S.+/)
      })
    })
  })
})
