export { causedBy } from './cause.ts'
export { type EventDefinition, type EventDefinitions, type EventEnvelope, matchesMask } from './definition.ts'
export { OutboxEntity, type OutboxEvent } from './entity.ts'
export { carried, emitEvent, emittedBy, envelopeOf, isSettled, newEvent, OVERDUE_GRACE } from './outbox.ts'
