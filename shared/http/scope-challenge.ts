import type { PlatformError } from '../kernel/errors.ts'
import { stepUpChallenge } from '../kernel/host-resources.ts'
import type { Scope } from '../kernel/scopes.ts'
import type { Settings } from '../kernel/settings.ts'
import type { PersonCaller } from './callers.ts'
import { challenge } from './response.ts'

/**
 * Tells a person's host which scopes to request (RFC 6750 §3.1): those that it has, too, because a new consent replaces the
 * one before.
 * @param path path of the request
 * @param error `insufficient_scope`
 */
export const personScopeChallenge = (
  settings: Settings,
  { grant }: PersonCaller,
  path: string,
  { details }: PlatformError,
): Record<string, string> => {
  const scopes = [...new Set([...(grant.scopes as Scope[]), String(details.required_scope) as Scope])]
  return { 'www-authenticate': challenge(stepUpChallenge(settings, path, scopes)) }
}
