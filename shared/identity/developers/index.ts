export { type Developer, DeveloperEntity, DeveloperKeyEntity } from './entity.ts'
export { type DeveloperRole, hasRights } from './roles.ts'
