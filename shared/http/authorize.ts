import { personRefusal } from '#shared/agents/person-tools/index.ts'
import { hasRights } from '#shared/identity/developers/index.ts'
import { atLeast, type Role } from '#shared/identity/people/index.ts'
import { fail } from '../kernel/errors.ts'
import { covers } from '../kernel/scopes.ts'
import type { AdminCaller, Caller, DeveloperCaller } from './callers.ts'
import { developerRoleFor, type Endpoint } from './endpoint.ts'

/**
 * Checks that the caller may use the endpoint: scopes of integrations, roles of people (contract/general.md#callers). A
 * missing scope is reported before one that the workspace denied ("Permission hierarchy").
 */
export const authorize = (endpoint: Endpoint, caller: Caller): void => {
  if (caller.kind === 'integration') {
    const { scope } = endpoint
    if (!scope) return
    if (!covers(caller.scopes, scope)) {
      throw fail('insufficient_scope', {
        message: `This endpoint requires the scope ${scope}.`,
        details: { required_scope: scope, granted_scopes: caller.scopes },
      })
    }
    if (caller.workspace.denied_scopes.includes(scope)) {
      throw fail('scope_denied_by_admin', {
        message: `A workspace admin has denied the scope ${scope}.`,
        details: { required_scope: scope, granted_scopes: caller.scopes },
      })
    }
  }
  if (caller.kind === 'person' && endpoint.scope) {
    const refusal = personRefusal(caller, endpoint.scope, 'This endpoint')
    if (refusal) throw refusal
  }
  if (caller.kind === 'developer' && caller.ended && !endpoint.endsCredential) throw fail('unauthorized', WRONG_KEY)
  if (caller.kind === 'developer') requireDeveloperRole(endpoint, caller)
  if (caller.kind === 'console' && endpoint.role && !atLeast(caller.member.role, endpoint.role as Role)) {
    throw roleNeeded(endpoint.role)
  }
  if (caller.kind === 'console' && caller.workspace.status === 'suspended') refuseInSuspended(endpoint)
  if (caller.kind === 'admin') requireCompleteSignIn(endpoint, caller)
  if (caller.kind === 'admin' && endpoint.role === 'superadmin' && caller.admin.role !== 'superadmin') {
    throw roleNeeded('superadmin')
  }
}

/** Rejects what a teammate's or a key's role doesn't allow (contract/apps-and-manifests.md#teammates). */
const requireDeveloperRole = (endpoint: Endpoint, { role }: DeveloperCaller): void => {
  const needed = developerRoleFor(endpoint)
  if (hasRights(role, needed)) return
  throw fail('forbidden', {
    message: `This requires the role ${needed} in the developer account. Yours is ${role}.`,
    fix: 'Ask an owner of the account to do it, or to change your role.',
    details: { required_role: needed, role },
  })
}

/** Rejects changes in a suspended workspace. People may read there and switch to another workspace. */
const refuseInSuspended = ({ method, whileSuspended }: Endpoint): void => {
  if (method === 'GET' || whileSuspended) return
  throw fail('forbidden', {
    message: 'The platform has suspended this workspace. You can’t change anything in it.',
    fix: 'Contact platform support, or switch to another workspace (POST /console/session/workspace).',
  })
}

/** Rejects a session whose sign-in isn’t complete, except where that is completed or ended. */
const requireCompleteSignIn = ({ whileSigningIn }: Endpoint, { nextStep, confirmation }: AdminCaller): void => {
  if (nextStep === undefined || whileSigningIn) return
  if (nextStep === 'add_passkey') throw fail('passkey_required')
  throw fail('confirmation_required', {
    message: 'The sign-in isn’t complete: the account’s passkey is missing.',
    fix: 'Present it: POST /admin/me/confirm/passkey/options.',
    details: { confirm_with: confirmation.method },
  })
}

/**
 * Asks an admin who does something sensitive to confirm that it’s them (contract/admin.md#confirmation). A long response
 * isn't asked again.
 */
export const requireConfirmation = ({ confirms }: Endpoint, caller: Caller): void => {
  if (!confirms || caller.kind !== 'admin' || caller.confirmation.isRecent) return
  const { method, isOptional } = caller.confirmation
  if (isOptional && confirms !== 'always') return
  throw fail('confirmation_required', {
    message: `This action requires that you confirmed with your ${method} in the last 10 minutes.`,
    fix:
      method === 'passkey'
        ? 'Confirm with POST /admin/me/confirm/passkey/options, then repeat the request.'
        : 'Confirm with POST /admin/me/confirm/password, then repeat the request.',
    details: { confirm_with: method },
  })
}

/** Error for an invalid developer key. */
export const WRONG_KEY = { message: 'The developer key is invalid or was rotated.', fix: 'Send the newest key.' }

const roleNeeded = (role: string) =>
  fail('admin_required', {
    message: `This endpoint requires the role ${role}.`,
    fix: `Ask someone with the role ${role}.`,
  })
