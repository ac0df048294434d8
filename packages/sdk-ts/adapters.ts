import type { Agent, Lifetime } from './agent.ts'

/** Fields that frameworks and hosts add to a request after reading its body: raw bytes, text or a parsed value. */
interface Read {
  rawBody?: unknown
  body?: unknown
}

/** The parts of Node's requests and responses that the adapters use, so that their types need no package. */
interface NodeRequest extends AsyncIterable<Uint8Array>, Read {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
  /** Whether someone has begun to read the body. */
  readableDidRead?: boolean | undefined
}
interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body?: Uint8Array): unknown
}

const MAX_BODY_BYTES = 4 * 1024 * 1024

const headersOf = (headers: Record<string, string | string[] | undefined>): Headers => {
  const result = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // HTTP/2 has pseudo headers, which the Fetch API refuses.
    if (value !== undefined && !name.startsWith(':')) result.set(name, Array.isArray(value) ? value.join(',') : value)
  }
  return result
}

/**
 * Serves an agent with Node's http: `createServer(node(agent)).listen(8080)`. Also an Express handler:
 * `app.post('/agent', node(agent))`, before any body parser, because the signature is over the raw bytes.
 */
export const node =
  (agent: Agent) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    try {
      const answer = await answerTo(agent, request, request)
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(new Uint8Array(await answer.arrayBuffer()))
    } catch (error) {
      console.error(error)
      response.writeHead(500, {})
      response.end()
    }
  }

const answerTo = async (agent: Agent, request: NodeRequest, read: Read): Promise<Response> => {
  const { method = 'POST', headers } = request
  const body = method === 'POST' ? await rawBodyOf(request, read) : new Uint8Array()
  if (!body) return new Response(null, { status: 413 })
  return agent.fetch(
    new Request('http://agent/', { method, headers: headersOf(headers), ...(method === 'POST' && { body }) }),
  )
}

/**
 * Returns the bytes of a body: what was kept of it when it was read, or the stream.
 * @returns undefined if it is too large
 * @throws if only a parsed body is left, because the signature is over the raw bytes
 */
const rawBodyOf = async (
  request: NodeRequest,
  { rawBody, body }: Read,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  // Express, with `express.raw()`, and Fastify, with `parseAs: 'buffer'`, have the raw bytes as the body.
  for (const given of [rawBody, body]) {
    if (given instanceof Uint8Array) return given as Uint8Array<ArrayBuffer>
    if (typeof given === 'string') return new TextEncoder().encode(given)
  }
  if ((body !== undefined && body !== null) || request.readableDidRead === true) {
    throw new Error(
      'The body was read before the agent, and the signature is over its raw bytes. Add the agent before express.json(), use ' +
        'express.raw(), or keep the bytes as request.rawBody.',
    )
  }
  return collect(request)
}

const collect = async (request: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}

/** Serves an agent with Express: `app.post('/agent', express(agent))`, before any body parser. */
export const express = (agent: Agent) => node(agent)

/** The parts of Fastify that the adapter uses. */
interface FastifyInstance {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: '*',
    options: { parseAs: 'buffer'; bodyLimit: number },
    // biome-ignore lint/suspicious/noExplicitAny: Fastify's own types depend on the server's type parameters
    parse: (request: any, body: any, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  // biome-ignore lint/suspicious/noExplicitAny: as above
  post(path: string, handler: (request: any, reply: any) => Promise<unknown>): unknown
}

/**
 * Serves an agent with Fastify, as a plugin: `app.register(fastify(agent), { prefix: '/agent' })`. It keeps the raw bytes of the
 * bodies below its prefix only.
 */
export const fastify =
  (agent: Agent) =>
  async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
      done(null, body),
    )
    app.post('/', async ({ raw, rawBody, body }: { raw: NodeRequest } & Read, reply) => {
      const answer = await answerTo(agent, raw, { rawBody, body })
      return reply
        .code(answer.status)
        .headers(Object.fromEntries(answer.headers))
        .send(await answer.text())
    })
  }

/** Serves an agent with Hono, on any of its runtimes: `app.post('/agent', hono(agent))`. */
export const hono =
  (agent: Agent) =>
  (context: { req: { raw: Request }; readonly executionCtx: Lifetime }): Promise<Response> => {
    let lifetime: Lifetime | undefined
    try {
      // Hono throws where the runtime has none, as on Node.
      lifetime = context.executionCtx
    } catch {}
    return agent.fetch(context.req.raw, lifetime)
  }

/**
 * Serves an agent as a route of Next's app router: `export const POST = next(agent, after)`, with `after` from `next/server`.
 * Without `after`, work that takes longer than `answerWithin` may be stopped by the host.
 */
export const next =
  (agent: Agent, after?: (work: Promise<unknown>) => void) =>
  (request: Request): Promise<Response> =>
    agent.fetch(request, after && { waitUntil: after })

/** Serves an agent with Cloudflare Workers: `export default cloudflare((env) => createAgent({ secret: env.SIGNING_SECRET, … }))`. */
export const cloudflare = <Env>(create: (env: Env) => Agent) => {
  // One agent per isolate, so that it recognizes requests that arrive again.
  const agents = new WeakMap<object, Agent>()
  return {
    fetch(request: Request, env: Env, context: Lifetime): Promise<Response> {
      const key = env as object
      const agent = agents.get(key) ?? create(env)
      agents.set(key, agent)
      return agent.fetch(request, { waitUntil: (work) => context.waitUntil?.(work) })
    },
  }
}

/** A request of a Lambda function URL or of API Gateway, in both of its formats. */
export interface LambdaRequest {
  headers?: Record<string, string | undefined> | null | undefined
  /** Format 1.0 and load balancers: instead of `headers`, or in addition to them. */
  multiValueHeaders?: Record<string, string[] | undefined> | null | undefined
  body?: string | null | undefined
  isBase64Encoded?: boolean | undefined
  httpMethod?: string | undefined
  requestContext?: { http?: { method: string } | undefined; httpMethod?: string | undefined } | undefined
  /** Set in the event that `later` sends. */
  accepted?: boolean | undefined
}

/** A response in both formats. */
export interface LambdaResponse {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/**
 * Serves an agent with AWS Lambda: `export const handler = lambda(agent)`.
 *
 * Lambda stops work when the response is sent. For runs that take longer than 25 seconds, pass `later`: it starts the same
 * function asynchronously with the event that it is given (`InvocationType: 'Event'`), and the request is accepted with 202.
 */
export const lambda =
  (agent: Agent, { later }: { later?: ((event: LambdaRequest) => Promise<unknown>) | undefined } = {}) =>
  async (event: LambdaRequest): Promise<LambdaResponse> => {
    const { body, isBase64Encoded, accepted } = event
    const headers = headersIn(event)
    const method = methodOf(event)
    const create = () =>
      new Request('http://agent/', {
        method,
        headers: headersOf(headers),
        ...(method === 'POST' && {
          body: isBase64Encoded ? Uint8Array.from(atob(body ?? ''), (c) => c.charCodeAt(0)) : (body ?? ''),
        }),
      })
    if (accepted) return toLambda(await agent.work(create()))
    if (!later || method !== 'POST') return toLambda(await agent.fetch(create()))
    if (!(await agent.verify(create()))) return toLambda(new Response(null, { status: 401 }))
    await later({ headers, body: body ?? '', isBase64Encoded: isBase64Encoded ?? false, accepted: true })
    return toLambda(new Response(null, { status: 202 }))
  }

const methodOf = ({ requestContext, httpMethod }: LambdaRequest): string =>
  requestContext?.http?.method ?? httpMethod ?? requestContext?.httpMethod ?? 'POST'

/** Headers by their names in lower case. HTTP has them in any case, and format 1.0 as they were sent. */
const headersIn = ({ headers, multiValueHeaders }: LambdaRequest): Record<string, string> => {
  const several = Object.entries(multiValueHeaders ?? {}).map(([name, values]) => [name, values?.join(',')] as const)
  const given = [...several, ...Object.entries(headers ?? {})]
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value]])),
  )
}

const toLambda = async (answer: Response): Promise<LambdaResponse> => ({
  statusCode: answer.status,
  headers: Object.fromEntries(answer.headers),
  body: await answer.text(),
})
