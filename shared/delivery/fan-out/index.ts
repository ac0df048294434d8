export { carryById, carryEvents, handingOver, handOver, leaveToFanOut } from './carry.ts'
export { fanOutEvent, readAhead } from './fan-out.ts'
export { handleOverdueEvent } from './overdue.ts'
export { relayEvents } from './relay.ts'
