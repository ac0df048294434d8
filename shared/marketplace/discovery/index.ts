export { loadAgentCard, loadCatalogue, platformCard } from './documents.ts'
export { CARD_TYPE, CATALOGUE_TYPE, CatalogueSchema, ServerCardSchema } from './schemas.ts'
