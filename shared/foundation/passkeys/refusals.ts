import { fail } from '#shared/kernel/errors.ts'

/** Why a passkey's answer is refused. */
export type PasskeyRefusal = 'wrong' | 'unknown' | 'elsewhere' | 'unverified_user' | 'counter'

/** Message and remedy for each reason to refuse a passkey. */
export const PASSKEY_REFUSALS: Record<PasskeyRefusal, { message: string; fix: string }> = {
  wrong: { message: 'The passkey’s answer is wrong, expired or already used.', fix: 'Start again.' },
  unknown: {
    message: 'This passkey doesn’t belong to an account here. It may have been removed.',
    fix: 'Use another passkey, or another way to sign in, and delete this one from your device.',
  },
  // People, developers and admins have the same site, so browsers offer the passkeys of all three. This one stays on the device.
  elsewhere: {
    message: 'This passkey isn’t one that signs in here.',
    fix: 'Use another passkey, or another way to sign in.',
  },
  unverified_user: {
    message: 'The passkey didn’t check who uses it, by PIN, fingerprint or face.',
    fix: 'Set a PIN for the security key, or use another passkey.',
  },
  counter: {
    message: 'The passkey’s counter didn’t rise, as if a copy of it existed.',
    fix: 'Sign in another way, remove this passkey, and add a new one.',
  },
}

interface CredentialFault {
  message: string
  fix: string
  field: string
  /** Tells pages that the passkey is one of the account's all the same. */
  passkey?: 'known'
}

export const WRONG_ANSWER: CredentialFault = {
  message: 'The credential doesn’t answer this challenge for this site.',
  fix: 'Start again with the first step, and send what the browser returns without changes.',
  field: 'does not answer this challenge for this site',
}
export const FOREIGN_FRAME: CredentialFault = {
  message: 'The credential was made in a frame of another site.',
  fix: 'Open this site itself, and start again.',
  field: 'was made in a frame of another site',
}
export const UNVERIFIED_USER: CredentialFault = {
  message: 'The passkey didn’t check who uses it, by PIN, fingerprint or face.',
  fix: 'Set a PIN for the security key, or use another device.',
  field: 'has no user verification',
}
export const OTHER_ALGORITHM: CredentialFault = {
  message: 'The passkey uses an algorithm that wasn’t asked for.',
  fix: 'Use a device that knows one of the algorithms in `pubKeyCredParams` of the options.',
  field: 'has a key of an algorithm that was not asked for',
}
export const KNOWN_ALREADY: CredentialFault = {
  message: 'The account already has this passkey.',
  fix: 'Use it to sign in, or add one of another device.',
  field: 'belongs to the account already',
  passkey: 'known',
}

export const refusedCredential = ({ message, fix, field, passkey }: CredentialFault) =>
  fail('validation_error', { message, fix, details: { fields: { credential: [field] }, ...(passkey && { passkey }) } })
