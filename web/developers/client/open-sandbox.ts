import { resolveUrl } from '../../session/config.ts'
import { clearSession, saveSession } from '../../session/session.ts'
import { api, type Schemas, unwrap } from './api.ts'

/**
 * Opens the sandbox in the console. A tab that a page opens starts with a copy of the page's session storage, so the
 * session reaches the console without being in a URL. If the browser blocks the tab, the console opens in this one.
 * @param place screen of the console
 */
export const openSandbox = async (as: Schemas['OpenSandbox']['as'], place = '/'): Promise<void> => {
  saveSession(await unwrap(api.POST('/api/v1/dev/sandbox/session', { body: { as } })))
  const address = resolveUrl(`app#${place}`)
  const opened = window.open(address, '_blank')
  if (opened) clearSession()
  else location.assign(address)
}
