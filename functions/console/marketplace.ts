import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  browseMarketplace,
  InstallLinkSchema,
  loadInstallLink,
  loadPublisher,
  MarketplaceAppSchema,
  marketplaceFilters,
  PublisherSchema,
  presentListedApps,
  searchMarketplace,
} from '#shared/marketplace/listings/index.ts'

const list = defineEndpoint({
  id: 'console.marketplace.list',
  group: 'console',
  method: 'GET',
  path: '/console/marketplace',
  caller: 'console',
  summary: 'Browse and search the marketplace',
  description:
    'Lists approved apps only, without suspended or delisted ones. A page can have fewer items than its limit; ' +
    'continue while `has_more` is true.',
  query: () => pageQuery(marketplaceFilters()),
  list: {
    read: async ({ work, caller, query: { q, category, sort } }, at) => {
      const page =
        q === undefined
          ? await browseMarketplace(work, { category, sort }, at)
          : await searchMarketplace(work, { q, category }, at)
      return presentListedApps(work, caller.workspace.id, page)
    },
    present: (app) => app,
  },
  response: MarketplaceAppSchema,
})

const install = defineEndpoint({
  id: 'console.install.get',
  group: 'console',
  method: 'GET',
  path: '/console/install/{slug}',
  params: { slug: 'text' },
  caller: 'console',
  summary: 'Get the app behind an install link',
  description:
    'Returns who makes the app, what it asks for, how it is installed, and whether you can install it. An app that ' +
    'customers can’t install yet is `not_found`, except in its developer’s sandbox workspace.',
  response: InstallLinkSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => loadInstallLink(work, caller, params.slug),
})

const publisher = defineEndpoint({
  id: 'console.publishers.get',
  group: 'console',
  method: 'GET',
  path: '/console/publishers/{id}',
  params: { id: 'developer' },
  caller: 'console',
  summary: 'Get a developer with their apps in the marketplace',
  description: 'A developer without listed apps is `not_found`.',
  response: PublisherSchema,
  handler: ({ work, caller, params }) => loadPublisher(work, caller.workspace.id, params.id),
})

export const endpoints = [list, install, publisher]
