/** Errors of endpoints that install an agent. */
export const INSTALL_ERRORS = [
  'not_found',
  'app_suspended',
  'app_not_approved',
  'installation_suspended',
  'insufficient_scope',
  'scope_denied_by_admin',
  'no_manifest',
] as const
