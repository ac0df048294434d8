// A Worker of Cloudflare, with the secret in its environment.
import { cloudflare, hono } from '@agent-integration-platform/sdk/adapters'
import { Hono } from 'hono'
import { agentOf } from './agent.mjs'

const plain = cloudflare(({ SIGNING_SECRET }) => agentOf(SIGNING_SECRET))

const app = new Hono()
app.post('/hono', (context) => hono(agentOf(context.env.SIGNING_SECRET))(context))

export default {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === '/hono' ? app.fetch(request, env, context) : plain.fetch(request, env, context),
}
