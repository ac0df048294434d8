export { type Developer, DeveloperEntity, DeveloperKeyEntity } from './entity.ts'
