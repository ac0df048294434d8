import { derivedId } from '#shared/kernel/ids.ts'
import type { Where } from '#shared/table/expressions.ts'
import type { Developer, DeveloperMember } from './entity.ts'

/** Returns a new account, whose first teammate is the person who registers, as an owner. */
export const newDeveloper = (fields: Omit<Developer, 'keys' | 'members'>): Developer => {
  const { id, email, name, created_at } = fields
  const memberId = derivedId('developerMember', created_at, id)
  const first: DeveloperMember = { id: memberId, email, name, role: 'owner', joined_at: created_at, passkeys: 0 }
  return { ...fields, keys: [], members: [first] }
}

/** Returns the name under which a teammate's passkeys are kept. It leads a passkey to its account. */
export const passkeyOwner = (developerId: string, memberId: string): string => `${developerId}/${memberId}`

/** Condition that an account still has the teammates that were read. */
export const unchangedMembers = ({ members }: Developer): Where<Developer> => ({ members })

export const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Returns the teammate who signs in with an address. Invitations don't count. */
export const memberWith = ({ members }: Developer, email: string): DeveloperMember | undefined =>
  members.find((member) => member.joined_at !== undefined && sameAddress(member.email, email))

/** Returns a teammate by id. Invitations don't count. */
export const memberById = ({ members }: Developer, id: string | undefined): DeveloperMember | undefined =>
  members.find((member) => member.joined_at !== undefined && member.id === id)
