// An agent as a developer writes it, run and typechecked in a folder that has only the packages from `npm pack`.
import { createServer } from 'node:http'
import { AgentError, createAgent } from '@agent-integration-platform/sdk'
import { node } from '@agent-integration-platform/sdk/adapters'
import { verify } from '@agent-integration-platform/sdk/webhooks'

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

const server = createServer(node(agent)).listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening at ${JSON.stringify(server.address())}`)
})
