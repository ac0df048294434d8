import { defineEndpoint } from '#shared/http/endpoint.ts'
import { JsonRpcMessage, JsonRpcResponse } from '#shared/http/json-rpc.ts'
import { ASKING } from './support/declaration.ts'
import { answerRequest } from './support/rpc.ts'
import { requireVersion, sceneFor } from './support/scene.ts'

const declaration = {
  ...ASKING,
  method: 'POST',
  consumes: 'json-rpc',
  body: JsonRpcMessage,
  response: JsonRpcResponse,
  produces: ['application/json', 'application/a2a+json', 'text/event-stream'],
} as const

const modern = defineEndpoint({
  ...declaration,
  id: 'a2a.rpc.call',
  speaks: 'a2a',
  path: '/a2a/agents/{id}/rpc',
  summary: 'Talk to an agent over A2A (JSON-RPC)',
  description:
    'One request of the Agent2Agent protocol: version 1.0, or 0.3 without the header `A2A-Version`. The answers of ' +
    '`SendStreamingMessage` and `SubscribeToTask` are event streams.',
  handler: async ({ work, caller, params, body, request: { headers, rawQuery } }) => {
    const scene = await sceneFor(work, caller, params.id)
    const version = requireVersion(headers, rawQuery, '1.0', '0.3')
    return answerRequest({ work, caller, scene, headers }, body, version)
  },
})

const legacy = defineEndpoint({
  ...declaration,
  id: 'a2a.rpc.callLegacy',
  speaks: 'a2a-0.3',
  path: '/a2a/agents/{id}/v0.3/rpc',
  summary: 'Talk to an agent over A2A 0.3 (JSON-RPC)',
  handler: async ({ work, caller, params, body, request: { headers, rawQuery } }) => {
    const scene = await sceneFor(work, caller, params.id)
    const version = requireVersion(headers, rawQuery, '0.3')
    return answerRequest({ work, caller, scene, headers }, body, version)
  },
})

export const endpoints = [modern, legacy]
