import { defineEndpoint } from '#shared/http/endpoint.ts'
import { withEntityTag } from '#shared/http/entity-tag.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import {
  CARD_TYPE,
  CATALOGUE_TYPE,
  CatalogueSchema,
  loadAgentCard,
  loadCatalogue,
  platformCard,
  ServerCardSchema,
} from '#shared/marketplace/discovery/index.ts'

const declaration = {
  group: 'mcp',
  method: 'GET',
  caller: 'none',
  lenient: true,
  waits: true,
  conditional: true,
} as const

/** Headers that SEP-2127 demands of the document itself, besides those of every public address. */
const CARD_HEADERS = {
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
}

/** @param seconds how long a cache may keep it: longer for what changes with a deployment only */
const answer = (headers: Record<string, string>, document: object, type: string, seconds: number) => {
  const body = JSON.stringify(document)
  return withEntityTag(
    headers,
    sha256(body),
    { ...CARD_HEADERS, 'content-type': type, 'cache-control': `public, max-age=${seconds}` },
    body,
  )
}

const card = defineEndpoint({
  ...declaration,
  id: 'mcp.card.read',
  path: '/mcp/server-card',
  summary: 'Get the card of the MCP server (SEP-2127)',
  description: 'Tells clients how to connect. It lists no tools, because they depend on the caller.',
  response: ServerCardSchema,
  produces: CARD_TYPE,
  handler: async ({ work, request: { headers } }) => answer(headers, platformCard(work.settings), CARD_TYPE, 3_600),
})

const agentCard = defineEndpoint({
  ...declaration,
  id: 'mcp.agentCard.read',
  path: '/mcp/agents/{slug}/server-card',
  params: { slug: 'text' },
  anonymous: 'read',
  summary: 'Get the card of one agent’s MCP server (SEP-2127)',
  description: 'Exists only for agents of the marketplace, and only if the operator publishes them (`publicAgents`).',
  response: ServerCardSchema,
  produces: CARD_TYPE,
  errors: ['not_found'],
  handler: async ({ work, params, request: { headers } }) =>
    answer(headers, await loadAgentCard(work, params.slug), CARD_TYPE, 300),
})

/** One document at the address of Agentic Resource Discovery 0.91, and at that of its earlier versions and of MCP. */
const catalogues = (['ard', 'ai-catalog'] as const).map((name) => {
  const type = name === 'ard' ? 'application/json' : CATALOGUE_TYPE
  return defineEndpoint({
    ...declaration,
    id: `mcp.catalogue.${name === 'ard' ? 'read' : 'readAsCatalog'}`,
    path: `/.well-known/${name}.json`,
    anonymous: 'read',
    summary: name === 'ard' ? 'Get the catalogue of agents (ARD)' : 'Get the catalogue of agents (AI Catalog)',
    description:
      'Lists the MCP server and, if the operator publishes them (`publicAgents`), up to 100 agents of the marketplace.',
    response: CatalogueSchema,
    produces: type,
    handler: async ({ work, request: { headers } }) => answer(headers, await loadCatalogue(work), type, 300),
  })
})

export const endpoints = [card, agentCard, ...catalogues]
