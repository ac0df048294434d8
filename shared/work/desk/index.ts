export { DeskEntity } from './entity.ts'
export { SavedViewsSchema, SetViews, Snooze } from './schemas.ts'
export { loadSnoozes, snooze } from './snooze.ts'
export { readViews, setViews } from './views.ts'
