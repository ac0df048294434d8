import { derivedId } from '#shared/kernel/ids.ts'
import { missing, type Where } from '#shared/table/expressions.ts'
import type { Developer, DeveloperMember } from './entity.ts'

/** Returns an account's teammates. The person who registered is the first, as an owner. */
export const membersOf = ({ id, email, name, created_at, members }: Developer): DeveloperMember[] =>
  members ?? [{ id: derivedId('developerMember', created_at, id), email, name, role: 'owner', joined_at: created_at }]

/** Returns the name under which a teammate's passkeys are kept. It leads a passkey to its account. */
export const passkeyOwner = (developerId: string, memberId: string): string => `${developerId}/${memberId}`

/** Condition that an account still has the teammates that were read. */
export const unchangedMembers = ({ members }: Developer): Where<Developer> => ({ members: members ?? missing })

export const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Returns the teammate who signs in with an address. Invitations don't count. */
export const memberWith = (developer: Developer, email: string): DeveloperMember | undefined =>
  membersOf(developer).find((member) => member.joined_at !== undefined && sameAddress(member.email, email))

/** Returns a teammate by id. Invitations don't count. */
export const memberById = (developer: Developer, id: string | undefined): DeveloperMember | undefined =>
  membersOf(developer).find((member) => member.joined_at !== undefined && member.id === id)
