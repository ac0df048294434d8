export { TOPICS, type Updates, UpdatesEntity } from './entity.ts'
export { markChanged, topicsOf } from './mark.ts'
export { UpdatesSchema, type UpdatesView, updatesQuery } from './schemas.ts'
