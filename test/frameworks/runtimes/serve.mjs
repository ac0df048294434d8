// Serves the agent at every path that the runtime can serve it at, and prints a line with the port of each.
// node serve.mjs | bun serve.mjs | deno run --allow-all serve.mjs
import { createServer } from 'node:http'
import * as adapters from '@agent-integration-platform/sdk/adapters'
import { serve as serveHono } from '@hono/node-server'
import expressApp from 'express'
import fastifyApp from 'fastify'
import { Hono } from 'hono'
import { agentOf } from './agent.mjs'

const agent = () => agentOf(() => process.env.SIGNING_SECRET)
const listening = (server) =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
const expressWith = (...handlers) => {
  const app = expressApp()
  app.post('/', ...handlers, adapters.express(agent()))
  return listening(createServer(app))
}
const honoOf = () => {
  const app = new Hono()
  app.post('/', adapters.hono(agent()))
  return app
}
const fetchOf = () => {
  const served = agent()
  return (request) => served.fetch(request)
}
/** Serves a handler of the Fetch API with what the runtime has for it. */
const serveFetch = (fetch) => {
  if (globalThis.Deno)
    return globalThis.Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, (request) => fetch(request)).addr
      .port
  if (globalThis.Bun)
    return globalThis.Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => fetch(request) }).port
  return new Promise((resolve) => {
    serveHono({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
  })
}
/** Serves Lambda events, as a function URL or an API in either format makes them of requests. */
const lambdaOf = (toEvent) => {
  const handler = adapters.lambda(agent())
  return serveFetch(async (request) => {
    const { statusCode, headers, body } = await handler(toEvent(request, await request.text()))
    return new Response(statusCode === 202 ? null : body, { status: statusCode, headers })
  })
}

const SERVED = {
  node: () => listening(createServer(adapters.node(agent()))),
  express: () => expressWith(),
  'express.raw()': () => expressWith(expressApp.raw({ type: '*/*', limit: '4mb' })),
  fastify: async () => {
    const app = fastifyApp()
    app.register(adapters.fastify(agent()))
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server.address().port
  },
  hono: () => serveFetch(honoOf().fetch),
  fetch: () => serveFetch(fetchOf()),
  'lambda, format 2.0': () =>
    lambdaOf((request, body) => ({
      version: '2.0',
      headers: Object.fromEntries(request.headers),
      requestContext: { http: { method: request.method } },
      body,
      isBase64Encoded: false,
    })),
  'lambda, format 1.0': () =>
    lambdaOf((request, body) => ({
      httpMethod: request.method,
      headers: Object.fromEntries([...request.headers].map(([name, value]) => [name.toUpperCase(), value])),
      multiValueHeaders: null,
      body: btoa(body),
      isBase64Encoded: true,
    })),
}

const ports = {}
for (const [name, start] of Object.entries(SERVED)) ports[name] = await start()
console.log(JSON.stringify(ports))
