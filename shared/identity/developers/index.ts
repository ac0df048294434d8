export { type Developer, DeveloperEntity, DeveloperKeyEntity } from './entity.ts'
export { type Giver, liveKeys, rightsOf } from './rights.ts'
export { type DeveloperRole, hasRights } from './roles.ts'
