import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { logoPath } from '#shared/catalogue/logos/index.ts'
import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { MCP_VERSIONS, mcpIdentity } from '#shared/kernel/mcp-server.ts'
import { cleanName } from '#shared/kernel/names.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { browseMarketplace } from '../listings/index.ts'
import { CARD_SCHEMA_URL, CARD_TYPE, type Catalogue, type ServerCard } from './schemas.ts'

type Reading = Pick<Deps, 'table' | 'settings'>

/** Most agents in the catalogue (contract/mcp.md#discovery). */
const MOST_AGENTS = 100

/** Longest title and description of a card. */
const LONGEST = 100

const BRAND_ICON = '/brand.svg'

const ABOUT = 'Tools of a workspace: its agents, runs, tasks, conversations and files.'

const QUERIES = [
  'Which agents does my workspace have, and what can they do?',
  'Create a task and delegate it to an agent.',
  'Ask an agent of my workspace and show me its answer.',
]

const shortened = (text: string): string => {
  const clean = cleanName(text, LONGEST + 1)
  return [...clean].length > LONGEST ? `${cleanName(clean, LONGEST - 1)}…` : clean
}

const describe = ({ name, summary }: App): { title: string; description: string } => {
  const title = shortened(name)
  return { title, description: shortened(summary) || title }
}

/** Reports whether everyone may see an agent: it is in the marketplace, as everyone with an account sees it. */
const isListed = ({ type, status, developer_blocked }: App): boolean =>
  type === 'agent' && status === 'approved' && !developer_blocked

const cardOf = (
  settings: Settings,
  path: string,
  about: { title: string; description: string; slug?: string },
  logo: string,
): ServerCard => ({
  $schema: CARD_SCHEMA_URL,
  ...mcpIdentity(settings, about.slug),
  title: about.title,
  description: about.description,
  websiteUrl: `${settings.baseUrl}/docs`,
  icons: [{ src: settings.baseUrl + logo }],
  remotes: [{ type: 'streamable-http', url: settings.baseUrl + path, supportedProtocolVersions: [...MCP_VERSIONS] }],
})

/** Returns the card of the server at `/mcp`. It has no tools, because those depend on the caller. */
export const platformCard = (settings: Settings): ServerCard =>
  cardOf(settings, '/mcp', { title: settings.brand.name, description: ABOUT }, BRAND_ICON)

/**
 * Returns the card of a listed agent's server.
 * @throws `not_found` for any other slug, and for every slug unless the operator publishes the listed agents
 */
export const loadAgentCard = async ({ table, settings }: Reading, slug: string): Promise<ServerCard> => {
  const claim = settings.publicAgents ? await table.get(ClaimEntity, { kind: 'slug', value: slug }) : undefined
  const app = claim && (await table.get(AppEntity, { id: claim.owner_id }))
  if (!app || !isListed(app)) throw fail('not_found', { message: 'No public agent has this slug.' })
  return cardOf(settings, `/mcp/agents/${slug}`, { ...describe(app), slug }, logoPath(app))
}

/** Returns the catalogue of what can be reached here: the MCP server and, if the operator wants, the listed agents. */
export const loadCatalogue = async (deps: Reading): Promise<Catalogue> => {
  const { settings } = deps
  const { baseUrl, brand } = settings
  const identify = (name: string) => `urn:air:${publisherOf(settings)}:${name}:mcp`
  const agents = settings.publicAgents ? await loadListed(deps) : []
  return {
    specVersion: '1.0',
    host: { displayName: brand.name, documentationUrl: `${baseUrl}/docs`, logoUrl: baseUrl + BRAND_ICON },
    entries: [
      {
        identifier: identify('platform'),
        displayName: brand.name,
        type: CARD_TYPE,
        url: `${baseUrl}/mcp/server-card`,
        description: ABOUT,
        representativeQueries: QUERIES,
      },
      ...agents.map((app): Catalogue['entries'][number] => {
        const { title, description } = describe(app)
        return {
          identifier: identify(`agents.${app.slug}`),
          displayName: title,
          type: CARD_TYPE,
          url: `${baseUrl}/mcp/agents/${app.slug}/server-card`,
          description,
          representativeQueries: [`What can ${title} do for my workspace?`, description],
          ...(app.category !== undefined && { tags: [app.category] }),
        }
      }),
    ],
  }
}

/** Returns the domain that publishes the catalogue. An IPv6 address, which has no place in an identifier, loses its colons. */
const publisherOf = ({ baseUrl }: Settings): string => new URL(baseUrl).hostname.replaceAll(/[^a-zA-Z0-9.-]/g, '-')

const loadListed = async (deps: Reading): Promise<App[]> => {
  const { items } = await browseMarketplace(deps, { sort: 'featured' }, { limit: MOST_AGENTS })
  const apps = await deps.table.getAll(items.map(({ app_id }) => AppEntity.ref({ id: app_id })))
  // An app may have been suspended between the two reads.
  return apps.filter((app) => app !== undefined && isListed(app)) as App[]
}
