export { eventsOf, FeedEntryEntity } from './entity.ts'
export { readFeed } from './polling.ts'
export { EventSchema, eventMaskListSchema } from './schemas.ts'
