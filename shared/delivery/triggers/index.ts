export { checkEvent } from './check.ts'
export { loadTriedEvent } from './load-event.ts'
export { startTriggered } from './start.ts'
