export { amount, emailAddress, idField, line, name, oneLine, time } from './fields.ts'
export { presentScope, ScopeSchema } from './scopes.ts'
