export { carryEvents } from './carry.ts'
export { fanOutEvent } from './fan-out.ts'
export { handleOverdueEvent } from './overdue.ts'
export { relayEvents } from './relay.ts'
