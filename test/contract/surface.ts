import { requestFunctions } from '#functions/registry.ts'
import { EVENTS } from '#shared/delivery/catalogue/catalogue.ts'
import { developerRoleFor, type Endpoint, type Group } from '#shared/http/endpoint.ts'
import { SCOPES } from '#shared/kernel/scopes.ts'

/** Page of the contract with the public surface. */
export const SURFACE = 'docs/contract/endpoints.md'

const TITLES: Readonly<Record<Group, string>> = {
  api: 'Integration API',
  mcp: 'MCP',
  a2a: 'A2A',
  oauth: 'OAuth',
  connect: 'Issuer for standard clients',
  developer: 'Developers',
  console: 'Console',
  admin: 'Admin',
  docs: 'Pages and documents',
}

/** Least that a caller needs. A handler may ask for more, which the page of its subject says. */
const needOf = (endpoint: Endpoint): string => {
  switch (endpoint.caller) {
    case 'integration':
      return endpoint.scope === undefined ? 'a token' : `\`${endpoint.scope}\``
    case 'developer':
      return developerRoleFor(endpoint)
    case 'console':
      return endpoint.role ?? 'member'
    case 'admin':
      return endpoint.role ?? 'admin'
    case 'client':
      return 'client credentials'
    case 'none':
      return '–'
  }
}

const LISTS = { page: 'cursor', offset: 'offset' } as const

const tableOf = (endpoints: readonly Endpoint[]): string => {
  const rows = endpoints
    .toSorted((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1))
    .map((endpoint) => {
      const paging = endpoint.list === undefined ? '' : LISTS[endpoint.list]
      const purpose = endpoint.summary.replaceAll('|', String.raw`\|`)
      return `| \`${endpoint.method} ${endpoint.path}\` | ${needOf(endpoint)} | ${paging} | ${purpose} |`
    })
  return ['| endpoint | needs | pages by | purpose |', '|---|---|---|---|', ...rows].join('\n')
}

/** Returns the page with every endpoint, scope and public event type. */
export const surface = (): string => {
  const groups = Map.groupBy(Object.values(requestFunctions).flat(), ({ group }) => group)
  const sections = Object.entries(TITLES).map(
    ([group, title]) => `## ${title}\n\n${tableOf(groups.get(group as Group) ?? [])}`,
  )
  const events = Object.entries(EVENTS).flatMap(([type, { audience }]) => (audience === 'internal' ? [] : [type]))
  const listed = (names: readonly string[]) =>
    names
      .toSorted()
      .map((name) => `- \`${name}\``)
      .join('\n')
  return `# Endpoints

Every endpoint, with the role or scope that its caller needs at least. The other pages say what else it checks, and what it does. This
page is generated from the code (\`npm run record -- surface\`).

${sections.join('\n\n')}

## Scopes

${listed(Object.keys(SCOPES))}

## Events

${listed(events)}
`
}
