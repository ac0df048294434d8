import { isId } from '#shared/kernel/ids.ts'
import { type AccountKey, type Developer, isPortalSession } from './entity.ts'
import { memberById } from './member-list.ts'
import type { DeveloperRole } from './roles.ts'

/** Rights that a credential of an account has at this moment. */
export interface Rights {
  role: DeveloperRole
  /** Hash of the key, or id of the teammate, that the rights come from. */
  root: string
  memberId?: string
}

/** A credential of an account, as records name it that exist only as long as it does. */
export interface Giver {
  developer_id: string
  /** Hash of a key or of a session, or the id of a teammate. */
  given_by: string
}

/**
 * Returns what a key, a session or a teammate of an account may do now, or undefined if they have none of it left: a key that
 * was deleted, rotated, recovered or has expired, a session whose key or teammate is gone. Whatever a credential of an account
 * gave (sessions, sandbox tokens, stand-ins, invitations) names it, and is checked by this at each use.
 */
export const rightsOf = (developer: Developer | undefined, givenBy: string, now: number): Rights | undefined =>
  developer?.status === 'active' ? rightsIn(developer, givenBy, now) : undefined

const rightsIn = (developer: Developer, givenBy: string, now: number): Rights | undefined => {
  if (isId('developerMember', givenBy)) {
    const member = memberById(developer, givenBy)
    return member && { role: member.role, root: member.id, memberId: member.id }
  }
  if (givenBy === developer.key_hash) return { role: 'owner', root: givenBy }
  const key = developer.keys.find(({ key_hash }) => key_hash === givenBy)
  if (!key || key.expires_at <= now) return undefined
  return isPortalSession(key) ? rightsIn(developer, key.session.given_by, now) : { role: key.role, root: givenBy }
}

/** Returns the named keys and sessions of an account that still give rights, newest first. */
export const liveKeys = (developer: Developer, now: number): AccountKey[] =>
  developer.keys.filter(({ key_hash }) => rightsIn(developer, key_hash, now) !== undefined)
