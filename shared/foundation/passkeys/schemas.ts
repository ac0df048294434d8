import * as z from 'zod'
import { idField, name, time } from '../schemas/index.ts'

/** Response of the first step of a ceremony. */
export const PasskeyOptionsSchema = () =>
  z
    .object({
      challenge_id: idField('pkc').meta({ description: 'Send it with the result of the ceremony.' }),
      expires_in: z.number().int().meta({ description: 'Seconds until the challenge expires.', example: 300 }),
      options: z.record(z.string(), z.unknown()).meta({
        description:
          'WebAuthn options as JSON, for `navigator.credentials` or the `optionsJSON` of `@simplewebauthn/browser`.',
      }),
    })
    .meta({ id: 'PasskeyOptions' })

const encoded = () =>
  z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^[\w-]+$/, 'must be base64url without padding')

/** Fields of a `PublicKeyCredential` that browsers add. They aren't needed. */
const ignored = () => ({
  authenticatorAttachment: z.string().nullish(),
  clientExtensionResults: z.record(z.string(), z.unknown()).optional(),
})

const registration = () =>
  z
    .looseObject({
      id: encoded(),
      rawId: encoded(),
      type: z.literal('public-key'),
      response: z.looseObject({
        clientDataJSON: encoded(),
        attestationObject: encoded(),
        transports: z.array(z.string().max(32)).max(10).optional(),
      }),
      ...ignored(),
    })
    .meta({ description: 'The new credential as JSON (`credential.toJSON()`).' })

const assertion = () =>
  z
    .looseObject({
      id: encoded(),
      rawId: encoded(),
      type: z.literal('public-key'),
      response: z.looseObject({
        clientDataJSON: encoded(),
        authenticatorData: encoded(),
        signature: encoded(),
        userHandle: encoded().nullish(),
      }),
      ...ignored(),
    })
    .meta({ description: 'The credential’s answer as JSON (`credential.toJSON()`).' })

const challengeId = () =>
  z.string().max(64).meta({ description: 'From the first step.', example: 'pkc_01kae5m1v8w6c3x9q2r7t4y0zn' })

/** Body that adds a passkey. */
export const AddPasskey = () =>
  z
    .strictObject({
      challenge_id: challengeId(),
      name: name(100).meta({ description: 'Tells your passkeys apart.', example: 'Laptop' }),
      credential: registration(),
    })
    .meta({ id: 'AddPasskey' })

/** Body that presents a passkey, to sign in or to confirm. */
export const PresentPasskey = () =>
  z.strictObject({ challenge_id: challengeId(), credential: assertion() }).meta({ id: 'PresentPasskey' })

/** Passkey as its owner sees it. */
export const PasskeySchema = () =>
  z
    .object({
      id: idField('psk'),
      credential_id: z
        .string()
        .meta({ description: 'The authenticator’s id of it, for `signalAllAcceptedCredentials`.', example: 'AQIDBA' }),
      user_handle: z.string().meta({ description: 'The account as the authenticator knows it.', example: 'dXNyXzAx' }),
      name: z.string(),
      backed_up: z.boolean().meta({ description: 'True if it is synced, so that it outlives the loss of a device.' }),
      created_at: time(),
      last_used_at: time().nullable(),
    })
    .meta({ id: 'Passkey' })

export type PasskeyOptionsView = z.infer<ReturnType<typeof PasskeyOptionsSchema>>

export type PasskeyView = z.infer<ReturnType<typeof PasskeySchema>>

export type AddPasskeyInput = z.infer<ReturnType<typeof AddPasskey>>

export type PresentPasskeyInput = z.infer<ReturnType<typeof PresentPasskey>>
