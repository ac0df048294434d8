export { checkEvent } from './check.ts'
export { loadTriedEvent } from './load-event.ts'
export { startTriggered, startTriggeredAgain } from './start.ts'
