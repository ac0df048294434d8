// An agent as a developer writes it, run and typechecked in a folder that has only the packages from `npm pack`.
import { createServer } from 'node:http'
import { AgentError, createAgent, createApi } from '@agent-integration-platform/sdk'
import { lambda, node } from '@agent-integration-platform/sdk/adapters'
import { verify } from '@agent-integration-platform/sdk/webhooks'
import type { APIGatewayProxyHandler, APIGatewayProxyHandlerV2, LambdaFunctionURLHandler } from 'aws-lambda'

const manifest = {
  config: { type: 'object', properties: { greeting: { type: 'string' } } },
  tools: [
    { name: 'greet', input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  ],
  runtime: { resume: process.env.RESUME === 'yes' },
} as const

const warehouse = {
  type: 'object',
  properties: { name: { enum: ['North', 'South'] }, count: { type: 'integer' } },
  required: ['name'],
} as const

const UNSENDABLE: Record<string, unknown> = {
  value: 10n,
  nan: Number.NaN,
  large: 'x'.repeat(1024 * 1024),
  // Half of a character, which the platform refuses.
  text: '\ud800',
}

const starts = new Map<string, number>()

const agent = createAgent({
  secret: process.env.SIGNING_SECRET ?? '',
  manifest,
  answerWithin: 300,
  watchEvery: 200,
  async onRun(run) {
    const start = (starts.get(run.id) ?? 0) + 1
    starts.set(run.id, start)
    const greeting: string | undefined = run.settings.greeting
    if (run.call?.name === 'greet') run.call.arguments.name satisfies string
    switch (run.input.mode) {
      case 'step':
        await run.step('Halfway there')
        return { text: `${greeting ?? 'Hello'}!`, start }
      case 'code':
        throw new AgentError('no_stock', 'There is nothing in stock.')
      case 'bug':
        throw new TypeError('secret detail')
      case 'long':
        await new Promise((resolve) => setTimeout(resolve, 400))
        return { late: true }
      case 'unsendable':
        if (run.input.late) await new Promise((resolve) => setTimeout(resolve, 400))
        return { items: [{ it: UNSENDABLE[String(run.input.kind)] }] }
      case 'complete':
        await run.complete({ early: true }, { cost_units: 3 })
        return { ignored: true }
      case 'fetch': {
        const outcome = await run.tool('http_fetch', { url: 'https://nowhere.invalid/' })
        return { start, outcome: outcome.status, receipt: typeof outcome.receipt }
      }
      case 'ask': {
        const answer = await run.ask('Which warehouse?', { schema: warehouse })
        const name: 'North' | 'South' | undefined = answer.action === 'accept' ? answer.content.name : undefined
        return { start, name, approved: await run.approve('Order more?') }
      }
      case 'endless':
        await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
        console.log(`aborted ${run.id}`)
        return undefined
    }
    // @ts-expect-error: no such tool exists
    if (run.input.never) await run.tool('launch', {})
    // @ts-expect-error: the URL is missing
    if (run.input.never) await run.tool('http_fetch', {})
    if (run.input.never) {
      const event = await verify('', {}, new Uint8Array())
      if (event.type === 'run.succeeded') event.data.duration_ms satisfies number
    }
    const me = await run.api.GET('/api/v1/me')
    return { app: me.data?.app.slug }
  },
})

// The handlers as the types of AWS have them.
const functionUrl: LambdaFunctionURLHandler = lambda(agent)
const format2: APIGatewayProxyHandlerV2 = lambda(agent)
const format1: APIGatewayProxyHandler = lambda(agent)
void [functionUrl, format2, format1]
// Options that a program has only sometimes.
const rotated: string | undefined = process.env.NEXT_SIGNING_SECRET
const maybe: number | undefined = process.env.ANSWER_WITHIN ? Number(process.env.ANSWER_WITHIN) : undefined
createAgent({ secret: () => [rotated ?? ''], manifest: undefined, answerWithin: maybe, onRun: () => undefined })
createApi({ baseUrl: 'https://platform.example/', token: 'token', timeout: maybe, signal: undefined })

const server = createServer(node(agent)).listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening at ${JSON.stringify(server.address())}`)
})
