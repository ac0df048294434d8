export { type Developer, DeveloperEntity, DeveloperKeyEntity, isPortalSession } from './entity.ts'
export { newDeveloper } from './member-list.ts'
export { type Giver, liveKeys, rightsOf } from './rights.ts'
export { type DeveloperRole, hasRights } from './roles.ts'
