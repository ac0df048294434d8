export { type PersonUpdates, PersonUpdatesEntity, TOPICS, type Updates, UpdatesEntity } from './entity.ts'
export { UPDATES_EVENTS } from './events.ts'
export {
  addUpdates,
  announceChange,
  isLive,
  isWatched,
  topicsOf,
  wakePages,
  wakePagesWrites,
  watchUpdates,
} from './mark.ts'
export { UpdatesSchema, type UpdatesView, updatesQuery } from './schemas.ts'
