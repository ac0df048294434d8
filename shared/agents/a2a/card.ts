import { FlattenedSign } from 'jose'
import { signedContent } from '#shared/catalogue/agent-cards/index.ts'
import { logoPath } from '#shared/catalogue/logos/index.ts'
import { loadSigningKey } from '#shared/foundation/signing-keys/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { portableSchema } from '#shared/kernel/json-schema/portable.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import type { A2aAgent } from './find.ts'

type Json = Record<string, unknown>

/** Id of the skill that takes any message. */
const MESSAGE_SKILL = 'message'

const JSON_MODE = 'application/json'
const TEXT_MODE = 'text/plain'

/** Scopes that a person's client asks for to talk to agents. */
const SCOPES = {
  'runs:read': 'Read the tasks that you started.',
  'runs:write': 'Start and cancel tasks.',
} as const

/** Returns the address of an agent, without a slash at its end. */
const addressOf = ({ baseUrl }: Settings, { installation }: A2aAgent): string =>
  `${baseUrl}/a2a/agents/${installation.id}`

const extensionOf = ({ baseUrl }: Settings, name: string): string => `${baseUrl}/a2a/extensions/${name}/v1`

/** Skills of the card that everyone can read. An app that isn't listed shows that there is an agent, and no more. */
const publicSkills = ({ app, manifest }: A2aAgent): Json[] =>
  app.status === 'approved'
    ? allSkills(manifest)
    : [{ id: 'agent', name: 'Agent', description: 'Sign in for the skills of this agent.', tags: ['agent'] }]

const allSkills = ({ tools = [], a2a }: A2aAgent['manifest']): Json[] => [
  ...tools.map(({ name, description }) => ({
    id: name,
    name,
    description,
    tags: ['tool'],
    inputModes: [JSON_MODE],
    outputModes: [JSON_MODE],
  })),
  ...(a2a?.messages
    ? [
        {
          id: MESSAGE_SKILL,
          name: 'Message',
          description: 'Takes any message of text and JSON.',
          tags: ['message'],
          inputModes: [TEXT_MODE, JSON_MODE],
          outputModes: [TEXT_MODE, JSON_MODE],
        },
      ]
    : []),
]

/** Fields that the cards of both versions share. */
const about = async ({ table, settings }: Pick<Deps, 'table' | 'settings'>, agent: A2aAgent): Promise<Json> => {
  const { app, installation, manifest } = agent
  const developer = await table.get(DeveloperEntity, { id: app.developer_id })
  return {
    name: installation.app_name,
    description: app.summary || installation.app_name,
    version: installation.version,
    provider: {
      organization: developer?.company ?? developer?.name ?? installation.app_name,
      url: app.homepage_url ?? settings.baseUrl,
    },
    iconUrl: settings.baseUrl + logoPath(app),
    defaultInputModes: manifest.a2a?.messages ? [JSON_MODE, TEXT_MODE] : [JSON_MODE],
    defaultOutputModes: [JSON_MODE, TEXT_MODE],
  }
}

/** Extensions of the card. The parameters of one describe the arguments of each skill. */
const extensionsOf = (settings: Settings, { manifest }: A2aAgent, isExtended: boolean): Json[] => [
  {
    uri: extensionOf(settings, 'idempotency'),
    description: 'A message that is sent again with the same messageId within 24 hours gets the same task.',
  },
  ...(isExtended
    ? [
        {
          uri: extensionOf(settings, 'input-schemas'),
          description: 'JSON Schema of the arguments of each skill: send one data part {skill, arguments}.',
          params: {
            schemas: Object.fromEntries(
              (manifest.tools ?? []).map((tool) => [tool.name, portableSchema(tool.input_schema)]),
            ),
          },
        },
      ]
    : []),
]

const flowOf = ({ baseUrl }: Settings) => ({
  authorizationUrl: `${baseUrl}/connect/authorize`,
  tokenUrl: `${baseUrl}/connect/token`,
  refreshUrl: `${baseUrl}/connect/token`,
  scopes: SCOPES,
})

/** Builds the card of version 1.0, without its signature. */
const unsignedCard = async (
  deps: Pick<Deps, 'table' | 'settings'>,
  agent: A2aAgent,
  isExtended: boolean,
): Promise<Json> => {
  const { settings } = deps
  const at = addressOf(settings, agent)
  const face = (path: string, protocolBinding: string, protocolVersion: string) => ({
    url: at + path,
    protocolBinding,
    protocolVersion,
  })
  return {
    ...(await about(deps, agent)),
    supportedInterfaces: [
      face('/rpc', 'JSONRPC', '1.0'),
      face('', 'HTTP+JSON', '1.0'),
      face('/v0.3/rpc', 'JSONRPC', '0.3'),
      face('/v0.3', 'HTTP+JSON', '0.3'),
    ],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: extensionsOf(settings, agent, isExtended),
    },
    securitySchemes: {
      bearer: {
        httpAuthSecurityScheme: {
          scheme: 'Bearer',
          description: 'Access token of an app, or callback token of a run.',
        },
      },
      oauth2: {
        oauth2SecurityScheme: {
          description: 'Token of a person, for the resource /a2a.',
          flows: { authorizationCode: { ...flowOf(settings), pkceRequired: true } },
          oauth2MetadataUrl: `${settings.baseUrl}/.well-known/oauth-authorization-server/connect`,
        },
      },
    },
    securityRequirements: [
      { schemes: { bearer: { list: [] } } },
      { schemes: { oauth2: { list: Object.keys(SCOPES) } } },
    ],
    skills: isExtended ? allSkills(agent.manifest) : publicSkills(agent),
  }
}

/** A card as text that is ready to send, and the hash of what it says. Signatures of the same card differ. */
export interface Card {
  json: Json
  hash: string
}

/**
 * Builds the signed card of version 1.0 (contract/a2a.md#cards). The signature covers the canonical JSON (RFC 8785) of
 * the card without its signatures and without anything empty.
 * @param isExtended all skills with their schemas, for a caller who may talk to the agent
 */
export const buildCard = async (
  deps: Pick<Deps, 'table' | 'settings' | 'keys' | 'clock'>,
  agent: A2aAgent,
  isExtended = false,
): Promise<Card> => {
  const [card, { kid, privateKey }] = await Promise.all([
    unsignedCard(deps, agent, isExtended),
    loadSigningKey(deps, 'cards'),
  ])
  const payload = signedContent(card)
  const jku = `${deps.settings.baseUrl}/.well-known/jwks.json`
  const { protected: header, signature } = await new FlattenedSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'ES256', typ: 'JOSE', kid, jku })
    .sign(privateKey)
  return { json: { ...card, signatures: [{ protected: header, signature }] }, hash: sha256(kid + payload) }
}

/** Builds the card of version 0.3, which isn't signed. */
export const buildLegacyCard = async (
  deps: Pick<Deps, 'table' | 'settings'>,
  agent: A2aAgent,
  isExtended = false,
): Promise<Card> => {
  const { settings } = deps
  const at = `${addressOf(settings, agent)}/v0.3`
  const json = {
    protocolVersion: '0.3.0',
    ...(await about(deps, agent)),
    url: `${at}/rpc`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: `${at}/rpc`, transport: 'JSONRPC' },
      { url: at, transport: 'HTTP+JSON' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      stateTransitionHistory: false,
      extensions: extensionsOf(settings, agent, isExtended).map((one) => ({ ...one, required: false })),
    },
    securitySchemes: {
      bearer: { type: 'http', scheme: 'Bearer' },
      oauth2: {
        type: 'oauth2',
        flows: { authorizationCode: flowOf(settings) },
        oauth2MetadataUrl: `${settings.baseUrl}/.well-known/oauth-authorization-server/connect`,
      },
    },
    security: [{ bearer: [] }, { oauth2: Object.keys(SCOPES) }],
    skills: isExtended ? allSkills(agent.manifest) : publicSkills(agent),
    supportsAuthenticatedExtendedCard: true,
  }
  return { json, hash: sha256(canonicalJson(json)) }
}
