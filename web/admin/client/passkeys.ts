import { presentPasskey } from '../../session/passkey.ts'
import { api, unwrap } from './api.ts'

/** The calls of the admin's own passkeys. */
export const calls = {
  begin: () => unwrap(api.POST('/admin/me/passkeys/options')),
  add: (body: object) => unwrap(api.POST('/admin/me/passkeys', { body: body as never })),
  remove: (id: string) => unwrap(api.DELETE('/admin/me/passkeys/{id}', { params: { path: { id } } })),
  list: () => unwrap(api.GET('/admin/me/passkeys')),
}

/** Confirms with a passkey of the account, which also completes a sign-in. @throws {Failure} */
export const confirmWithPasskey = async (): Promise<void> => {
  const answer = await presentPasskey(await unwrap(api.POST('/admin/me/confirm/passkey/options')))
  await unwrap(api.POST('/admin/me/confirm/passkey', { body: answer as never }))
}
