/** Rights of a teammate, a key or a session in a developer account, weakest first. */
export const DEVELOPER_ROLES = ['viewer', 'developer', 'owner'] as const
export type DeveloperRole = (typeof DEVELOPER_ROLES)[number]

/** Returns true if the role has at least the needed rights. */
export const hasRights = (role: DeveloperRole, needed: DeveloperRole): boolean =>
  DEVELOPER_ROLES.indexOf(role) >= DEVELOPER_ROLES.indexOf(needed)
