import type { App } from '#shared/catalogue/apps/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { standardError } from '#shared/kernel/oauth-errors.ts'
import { redirectBack } from '../oauth/redirect-back.ts'
import { refuseOtherResource } from '../oauth/resource.ts'
import { checkRedirectUri, checkRequest, loadTarget, storeConsent } from './authorize.ts'
import { type Asked, keepPushed, type Pushed, readPushed, takePushed } from './pushed.ts'

/**
 * Handles `GET /connect/authorize`. Errors about the client or its address are shown to the person. All others go back to
 * the client with `state` and `iss` (RFC 6749 §4.1.2.1, RFC 9207).
 * @returns the address of the consent page, or of the client
 */
export const authorizeStandard = async (work: Work, asked: Asked): Promise<string> => {
  const { parameters, fault, writes } = await takePushed(work, asked)
  const target = await loadTarget(work, parameters)
  try {
    if (fault) throw fault
    refuseOtherResource(work.settings, parameters.resource)
    return await storeConsent(work, target, checkRequest(target.app, parameters), 'connect', writes)
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status >= 500) throw error
    const state = parameters.state || undefined
    return redirectBack(work.settings, target.redirect_uri, { ...standardError(error), state }, 'connect')
  }
}

/** Handles `POST /connect/par` (RFC 9126) of an app: checks a request and keeps it until the person arrives. */
export const pushRequest = async (work: Work, app: App, given: Record<string, string | undefined>): Promise<Pushed> => {
  if (app.status === 'suspended') throw fail('app_suspended')
  const parameters = readPushed(given)
  checkRedirectUri(app, parameters)
  refuseOtherResource(work.settings, parameters.resource)
  checkRequest(app, parameters)
  return keepPushed(work, app.id, parameters)
}
