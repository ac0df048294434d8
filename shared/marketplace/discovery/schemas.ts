import * as z from 'zod'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'

/** Media types of the documents, as their specifications name them. */
export const CARD_TYPE = 'application/mcp-server-card+json'
export const CATALOGUE_TYPE = 'application/ai-catalog+json'

export const ServerCardSchema = () =>
  z
    .object({
      $schema: z.literal(SCHEMA),
      name: z
        .string()
        .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
        .min(3)
        .max(200)
        .meta({ description: 'The host in reverse order, and the server.', example: 'com.example.api/mcp' }),
      version: z.string().max(255).meta({ example: '1.0.0' }),
      title: z.string().min(1).max(100).meta({ example: 'Agent Integration Platform' }),
      description: z.string().min(1).max(100),
      websiteUrl: z.url(),
      icons: z.array(z.object({ src: z.url() })),
      remotes: z.array(
        z.object({
          type: z.literal('streamable-http'),
          url: z.url(),
          supportedProtocolVersions: z.array(z.string()),
        }),
      ),
    })
    .meta({ id: 'McpServerCard', description: 'MCP server card (SEP-2127)' })

export type ServerCard = z.infer<ReturnType<typeof ServerCardSchema>>

export const CatalogueSchema = () =>
  z
    .object({
      specVersion: z.literal('1.0'),
      host: z.object({ displayName: z.string(), documentationUrl: z.url(), logoUrl: z.url() }),
      entries: z.array(
        z.object({
          identifier: z
            .string()
            .regex(/^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/)
            .meta({ example: 'urn:air:api.example.com:platform:mcp' }),
          displayName: z.string(),
          type: z.literal(CARD_TYPE),
          url: z.url(),
          description: z.string(),
          tags: z.array(z.string()).optional(),
          representativeQueries: z.array(z.string()).min(2).max(5),
        }),
      ),
    })
    .meta({ id: 'AgentCatalogue', description: 'Agentic Resource Discovery 0.91, and AI Catalog' })

export type Catalogue = z.infer<ReturnType<typeof CatalogueSchema>>

export const CARD_SCHEMA_URL = SCHEMA
