import { NEEDS_IN_PLACE } from '#shared/agents/dispatch/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { JsonRpcMessage, JsonRpcResponse } from '#shared/http/json-rpc.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'
import type { ErrorCode } from '#shared/kernel/errors.ts'
import { answerMessage } from './support/answer.ts'

/** Largest message. A file in base64 is the largest argument. */
const MESSAGE_BYTES = 2 * 1_024 * 1_024

const declaration = {
  group: 'mcp',
  method: 'POST',
  caller: 'integration',
  hosts: true,
  consumes: 'json-rpc',
  waits: true,
  body: JsonRpcMessage,
  maxBodyBytes: MESSAGE_BYTES,
  response: JsonRpcResponse,
  produces: ['application/json', 'text/event-stream'],
  orNothing: { status: 202, when: 'The message was a notification or a response, which gets no answer.' },
  errors: [
    'forbidden',
    'not_found',
    'insufficient_scope',
    'scope_denied_by_admin',
    'tool_denied',
    'conflict',
    'idempotency_key_reused',
  ] as ErrorCode[],
  needs: [...NEEDS_IN_PLACE, 'files:read', 'files:write'] as Capability[],
} as const

const everything = defineEndpoint({
  ...declaration,
  id: 'mcp.server.call',
  path: '/mcp',
  summary: 'Talk to the MCP server',
  description:
    'One message of the Model Context Protocol: version 2026-07-28 without sessions, or 2025-11-25 and 2025-06-18 with ' +
    '`initialize`. Lists and calls the platform’s tools and those of the workspace’s agents. The response is JSON, or an ' +
    'event stream if a call takes longer than 5 seconds and the client accepts one.',
  handler: (context) => answerMessage(context),
})

const oneAgent = defineEndpoint({
  ...declaration,
  id: 'mcp.agents.call',
  path: '/mcp/agents/{slug}',
  params: { slug: 'text' },
  summary: 'Talk to the MCP server of one agent',
  description:
    'Like `POST /mcp`, with the tools of one agent under their own names. 404 for an agent that you can’t call.',
  handler: (context) => answerMessage(context, context.params.slug),
})

export const endpoints = [everything, oneAgent]
