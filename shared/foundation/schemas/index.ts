export { amount, emailAddress, idField, keyDays, line, name, oneLine, time } from './fields.ts'
export { presentScope, ScopeSchema } from './scopes.ts'
