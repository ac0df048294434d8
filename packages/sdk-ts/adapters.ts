import type { Agent, Lifetime } from './agent.ts'

/** The parts of Node's requests and responses that the adapters use, so that their types need no package. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
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
      // Express keeps the parsed body here. With `express.raw()`, it is the raw bytes.
      const { body: parsed } = request as { body?: unknown }
      if (parsed !== undefined && !(parsed instanceof Uint8Array)) {
        throw new Error('The body was parsed already. Add the agent before express.json(), or use express.raw().')
      }
      const body = parsed instanceof Uint8Array ? parsed : await collect(request)
      const answer = body
        ? await agent.fetch(
            new Request('http://agent/', {
              method: request.method ?? 'POST',
              headers: headersOf(request.headers),
              ...(request.method === 'POST' && { body: body as Uint8Array<ArrayBuffer> }),
            }),
          )
        : new Response(null, { status: 413 })
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(new Uint8Array(await answer.arrayBuffer()))
    } catch (error) {
      console.error(error)
      response.writeHead(500, {})
      response.end()
    }
  }

const collect = async (request: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> => {
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
  headers?: Record<string, string | undefined> | null
  body?: string | null
  isBase64Encoded?: boolean
  httpMethod?: string
  requestContext?: { http?: { method: string } }
  /** Set in the event that `later` sends. */
  accepted?: boolean
}

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
  (agent: Agent, { later }: { later?: (event: LambdaRequest) => Promise<unknown> } = {}) =>
  async (event: LambdaRequest): Promise<LambdaResponse> => {
    const { headers, body, isBase64Encoded, accepted, requestContext, httpMethod } = event
    const method = requestContext?.http?.method ?? httpMethod ?? 'POST'
    const create = () =>
      new Request('http://agent/', {
        method,
        headers: headersOf(Object.fromEntries(Object.entries(headers ?? {}).map(([k, v]) => [k.toLowerCase(), v]))),
        ...(method === 'POST' && {
          body: isBase64Encoded ? Uint8Array.from(atob(body ?? ''), (c) => c.charCodeAt(0)) : (body ?? ''),
        }),
      })
    if (accepted) return toLambda(await agent.work(create()))
    if (!later) return toLambda(await agent.fetch(create()))
    if (!(await agent.verify(create()))) return toLambda(new Response(null, { status: 401 }))
    await later({ headers: headers ?? {}, body: body ?? '', isBase64Encoded: isBase64Encoded ?? false, accepted: true })
    return toLambda(new Response(null, { status: 202 }))
  }

const toLambda = async (answer: Response): Promise<LambdaResponse> => ({
  statusCode: answer.status,
  headers: Object.fromEntries(answer.headers),
  body: await answer.text(),
})
