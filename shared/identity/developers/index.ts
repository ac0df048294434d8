export { type Developer, DeveloperEntity, DeveloperKeyEntity, type DeveloperMember } from './entity.ts'
export { DEVELOPER_ROLES, type DeveloperRole, hasRights } from './roles.ts'
