export { browseMarketplace, searchMarketplace } from './browse.ts'
export { loadInstallLink } from './install-link.ts'
export { presentListedApps } from './present-listed.ts'
export { InstallLinkSchema, MarketplaceAppSchema, marketplaceFilters } from './schemas.ts'
