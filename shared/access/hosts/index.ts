export { HostGrantEntity } from './entity.ts'
export { authenticatePerson } from './person.ts'
export { signInChallenge, stepUpChallenge } from './resources.ts'
