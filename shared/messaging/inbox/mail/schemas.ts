import * as z from 'zod'

const email = () => z.email({ error: 'must be an e-mail address' }).max(254)

/** `PUT /console/email`. */
export const SetEmail = () => z.strictObject({ email: email().meta({ example: 'ada@example.com' }) })

/** `POST /console/email/confirm`. */
export const ConfirmEmail = () =>
  z.strictObject({
    code: z
      .string()
      .regex(/^\d{6}$/, 'must be the six digits of the code')
      .meta({ description: 'Code of the latest e-mail.', example: '493817' }),
  })

/** Address that a code was sent to. */
export const PendingEmailSchema = () =>
  z.object({ pending_address: z.string().meta({ example: 'ada@example.com' }) }).meta({ id: 'PendingEmailAddress' })

/** Confirmed address. */
export const EmailAddressSchema = () =>
  z.object({ address: z.string().meta({ example: 'ada@example.com' }) }).meta({ id: 'EmailAddress' })
