export { definitionOf, EVENTS } from './catalogue.ts'
export { scopeOf } from './readable.ts'
