import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { type DemoServer, startServer } from './server.ts'

interface Execute {
  run: { id: string; input: { fetch?: string; name?: string } }
  callback: { base_url: string; token: string }
}

/** Sample agent of the demo, as a developer would write it. */
export interface SampleAgent extends DemoServer {
  /** Number of calls with a valid signature, and of refused calls. */
  calls: { accepted: number; refused: number }
  useSecret(secret: string): void
}

/**
 * Starts an agent that verifies the signature and answers with a greeting. If the input contains `fetch`, the agent answers
 * 202, calls the dangerous platform tool `http_fetch`, waits for a person's approval, and completes the run through the API.
 */
export const startAgent = async (): Promise<SampleAgent> => {
  let secret = ''
  const calls = { accepted: 0, refused: 0 }
  const server = await startServer(async (request, response) => {
    if (request.method === 'GET') return void response.end('The content of the page.')
    const body = await text(request)
    const signature = String(request.headers['x-svc-signature'] ?? '')
    if (!verifySvc(secret, signature, body, Date.now() / 1_000)) {
      calls.refused++
      return void response.writeHead(401).end()
    }
    calls.accepted++
    const execute = JSON.parse(body) as Execute
    if (execute.run.input.fetch === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' })
      const output = { text: `Hello, ${execute.run.input.name ?? 'world'}!` }
      response.end(
        JSON.stringify({
          status: 'succeeded',
          output,
          steps: [{ type: 'message', output }],
          cost_units: 1,
        }),
      )
      return
    }
    response.writeHead(202).end()
    work(execute).catch((error: unknown) => console.error('The sample agent failed:', error))
  })
  return {
    ...server,
    calls,
    useSecret(value) {
      secret = value
    },
  }
}

/** Works on the run after the 202, with the run's callback token. */
const work = async ({ run, callback }: Execute): Promise<void> => {
  const call = async (path: string, body: unknown) => {
    for (;;) {
      const response = await fetch(`${callback.base_url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${callback.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      // biome-ignore lint/suspicious/noExplicitAny: the sample doesn't validate responses
      const answer = (await response.json()) as any
      if (response.ok) return answer
      if (response.status !== 409 && response.status !== 429) throw new Error(`${path}: ${JSON.stringify(answer)}`)
      await pause(500)
    }
  }
  await call(`/runs/${run.id}/steps`, { type: 'message', output: { text: 'I would like to read a page.' } })
  for (;;) {
    const answer = await call('/tools/http_fetch/invoke', { arguments: { url: run.input.fetch } })
    if (answer.status === 'awaiting_approval') {
      await pause(250)
      continue
    }
    const done =
      answer.status === 'ok'
        ? { status: 'succeeded', output: { read: answer.result.body }, cost_units: 2 }
        : { status: 'failed', error_code: 'not_allowed', error_message: 'The person rejected the call.' }
    await call(`/runs/${run.id}/complete`, done)
    return
  }
}
