import { browse, search } from '#shared/domain/marketplace/browse.ts'
import { installLink } from '#shared/domain/marketplace/install-link.ts'
import { InstallLinkSchema, MarketplaceAppSchema, marketplaceFilters } from '#shared/domain/marketplace/schemas.ts'
import { showListed } from '#shared/domain/marketplace/shown.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'console.marketplace.list',
  group: 'console',
  method: 'GET',
  path: '/console/marketplace',
  caller: 'console',
  summary: 'Browse and search the agents that can be installed',
  description:
    'Approved apps only: what is suspended, delisted or still in review is not in it. A page may hold fewer than its limit; ' +
    'go on while `has_more`.',
  query: () => pageQuery(marketplaceFilters()),
  list: 'page',
  response: MarketplaceAppSchema,
  handler: ({ work, caller, query }) => {
    const { q, category, sort } = query
    return paged(
      work,
      caller,
      ['console.marketplace.list', q, category, q === undefined ? sort : undefined],
      query,
      async (options) => {
        const page =
          q === undefined
            ? await browse(work, { category, sort }, options)
            : await search(work, { q, category }, options)
        return showListed(work, caller.workspace.id, page)
      },
      (app) => app,
    )
  },
})

const install = defineEndpoint({
  id: 'console.install.get',
  group: 'console',
  method: 'GET',
  path: '/console/install/{slug}',
  params: { slug: 'text' },
  caller: 'console',
  summary: 'Show what an install link leads to',
  description:
    'Who makes the app, what it asks for, how it is installed and whether the caller may. An app that customers cannot ' +
    'install yet is `not_found`, except in its developer’s sandbox workspace.',
  response: InstallLinkSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => installLink(work, caller, params.slug),
})

export const marketplaceEndpoints = [list, install]
