export { ClaimEntity, CounterEntity } from './entity.ts'
