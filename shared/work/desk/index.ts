export { DeskEntity } from './entity.ts'
export { SavedViewsSchema, SetViews } from './schemas.ts'
export { readViews, setViews } from './views.ts'
