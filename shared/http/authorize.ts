import { atLeast, type Role } from '../entities/people.ts'
import { fail } from '../kernel/errors.ts'
import { covers } from '../kernel/scopes.ts'
import type { Caller } from './callers.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * May this caller use this endpoint: scopes of integrations, roles of people (specification "Authentication", rule 6). A
 * scope that is missing goes before one that the organization banned ("Permission hierarchy").
 */
export const authorize = (endpoint: Endpoint, caller: Caller): void => {
  if (caller.kind === 'integration') {
    const { scope } = endpoint
    if (!scope) return
    if (!covers(caller.scopes, scope)) {
      throw fail('insufficient_scope', {
        message: `This needs the scope ${scope}.`,
        details: { required_scope: scope, granted_scopes: caller.scopes },
      })
    }
    if (caller.workspace.denied_scopes.includes(scope)) {
      throw fail('scope_denied_by_admin', {
        message: `An admin of the organization forbade ${scope}.`,
        details: { required_scope: scope, granted_scopes: caller.scopes },
      })
    }
  }
  if (caller.kind === 'developer' && caller.ended && !endpoint.endsCredential) throw fail('unauthorized', WRONG_KEY)
  if (caller.kind === 'console' && endpoint.role && !atLeast(caller.member.role, endpoint.role as Role)) {
    throw roleNeeded(endpoint.role)
  }
  if (caller.kind === 'console' && caller.workspace.status === 'suspended') refuseInSuspended(endpoint)
  if (caller.kind === 'admin' && endpoint.role === 'superadmin' && caller.admin.role !== 'superadmin') {
    throw roleNeeded('superadmin')
  }
}

/** In a suspended workspace people read, and go elsewhere. */
const refuseInSuspended = ({ method, whileSuspended }: Endpoint): void => {
  if (method === 'GET' || whileSuspended) return
  throw fail('forbidden', {
    message: 'The workspace is suspended by the platform: in it nothing can be changed.',
    fix: 'Contact the platform’s support, or switch to another workspace (POST /console/session/workspace).',
  })
}

/** What a developer key that is none is told. */
export const WRONG_KEY = { message: 'The developer key is wrong or was rotated.', fix: 'Send the newest key.' }

const roleNeeded = (role: string) =>
  fail('admin_required', { message: `This needs the role ${role}.`, fix: `Ask somebody with the role ${role}.` })
