export { carryEvents } from './carry.ts'
export { fanOut, fanOutEvent } from './fan-out.ts'
export { handleOverdueEvent } from './overdue.ts'
export { relayEvents } from './relay.ts'
