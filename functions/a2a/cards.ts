import { buildCard, buildLegacyCard, findA2aAgent } from '#shared/agents/a2a/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { withEntityTag } from '#shared/http/entity-tag.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { type Headers, type Query, requireVersion } from './support/scene.ts'

const CARD_JSON = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'public, max-age=300',
  vary: 'A2A-Version',
}

const declaration = {
  group: 'a2a',
  method: 'GET',
  caller: 'none',
  anonymous: 'read',
  lenient: true,
  speaks: 'a2a',
  waits: true,
  params: { id: 'installation' },
  produces: 'application/json',
  conditional: true,
  errors: ['bad_request', 'not_found'],
  needs: ['objects:read', 'keys:cards'] as Capability[],
} as const

const answer = async (work: Work, id: string, headers: Headers, isLegacy: boolean) => {
  const agent = await findA2aAgent(work, id)
  const { json, hash } = isLegacy ? await buildLegacyCard(work, agent) : await buildCard(work, agent)
  return withEntityTag(headers, hash, CARD_JSON, JSON.stringify(json), true)
}

/** Version of the card that a request wants. Here, a request without a version wants the newest. */
const wantsLegacy = (headers: Headers, query: Query): boolean =>
  headers['a2a-version'] !== undefined && requireVersion(headers, query, '1.0', '0.3') === '0.3'

const card = defineEndpoint({
  ...declaration,
  id: 'a2a.card.read',
  path: '/a2a/agents/{id}/.well-known/agent-card.json',
  summary: 'Get an agent’s A2A card',
  description:
    'The signed card of version 1.0, or that of 0.3 with `A2A-Version: 0.3`. Only active agents with tools, or with ' +
    '`a2a.messages` in their manifest, have one.',
  handler: ({ work, params, request: { headers, rawQuery } }) =>
    answer(work, params.id, headers, wantsLegacy(headers, rawQuery)),
})

const legacyCard = defineEndpoint({
  ...declaration,
  id: 'a2a.card.readLegacy',
  path: '/a2a/agents/{id}/v0.3/.well-known/agent-card.json',
  summary: 'Get an agent’s A2A card of version 0.3',
  handler: ({ work, params, request: { headers } }) => answer(work, params.id, headers, true),
})

export const endpoints = [card, legacyCard]
