import * as z from 'zod'
import { fail } from '#shared/kernel/errors.ts'

/** `token` is optional here only so that a missing one gets the RFCs' `invalid_request`. Unknown parameters are ignored. */
export const PresentToken = () =>
  z
    .object({
      token: z.string().optional().meta({ description: 'Required. An access or refresh token of this client.' }),
      token_type_hint: z.string().optional().meta({ description: 'Ignored.' }),
      client_id: z.string().optional().meta({ description: 'Required. The app’s ID.' }),
      client_secret: z.string().optional().meta({ description: 'Required. The app’s current secret.' }),
    })
    .meta({ id: 'PresentedToken' })

/** @throws `invalid_request` */
export const tokenOf = ({ token }: { token?: string | undefined }): string => {
  if (!token)
    throw fail('invalid_request', {
      message: 'The parameter token is missing.',
      fix: 'Send the token in the parameter token.',
    })
  return token
}
