import { createPasskey, presentPasskey } from '../../session/passkey.ts'
import { api, unwrap } from './api.ts'

/** Adds a passkey of this device to the admin’s account. @throws {Failure} */
export const addPasskey = async (name: string): Promise<void> => {
  const made = await createPasskey(await unwrap(api.POST('/admin/me/passkeys/options')))
  await unwrap(api.POST('/admin/me/passkeys', { body: { name, ...made } as never }))
}

/** Confirms with a passkey of the account, which also completes a sign-in. @throws {Failure} */
export const confirmWithPasskey = async (): Promise<void> => {
  const answer = await presentPasskey(await unwrap(api.POST('/admin/me/confirm/passkey/options')))
  await unwrap(api.POST('/admin/me/confirm/passkey', { body: answer as never }))
}
