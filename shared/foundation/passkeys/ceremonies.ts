import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { iso, SECOND } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId, stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Deps, Work } from '../work/index.ts'
import { type Passkey, PasskeyChallengeEntity, PasskeyEntity, type Purpose } from './entity.ts'
import {
  FOREIGN_FRAME,
  KNOWN_ALREADY,
  OTHER_ALGORITHM,
  type PasskeyRefusal,
  refusedCredential,
  UNVERIFIED_USER,
  WRONG_ANSWER,
} from './refusals.ts'
import { relyingParty } from './relying-party.ts'
import type { AddPasskeyInput, PasskeyOptionsView, PasskeyView, PresentPasskeyInput } from './schemas.ts'

/**
 * Loads the WebAuthn library on first use. Its certificate parsers would slow down each cold start, and few requests need
 * them.
 */
const webauthn = () => import('./webauthn.ts')

/** ES256, RS256 and EdDSA, which all common authenticators and Node support. */
const ALGORITHMS = [-7, -257, -8]

/** Account that passkeys belong to. */
export interface PasskeyOwner {
  id: string
  /** Shown by the browser and the authenticator when they ask which passkey to use. */
  name: string
  displayName: string
}

/**
 * Role of the passkey at sign-in. The only factor must check its user by PIN, fingerprint or face. A second factor
 * proves possession, which also a plain security key does.
 */
export type Factor = 'only' | 'second'

/** Lists the passkeys of an account, oldest first. */
export const listPasskeys = async ({ table }: Pick<Deps, 'table'>, ownerId: string): Promise<Passkey[]> => {
  const at = { limit: 2 * LIMITS.passkeysPerAccount, ascending: true }
  return (await table.query(PasskeyEntity, { owner_id: ownerId }, at)).items
}

export const presentPasskey = (passkey: Passkey): PasskeyView => {
  const { id, credential_id, owner_id, name, backed_up, created_at, last_used_at } = passkey
  return {
    id,
    credential_id,
    user_handle: Buffer.from(owner_id).toString('base64url'),
    name,
    backed_up,
    created_at: iso(created_at),
    last_used_at: last_used_at === undefined ? null : iso(last_used_at),
  }
}

/** Returns whether a change that needs a recent sign-in can still be finished after a ceremony that takes its whole time. */
export const leavesTimeForCeremony = ({ clock }: Pick<Deps, 'clock'>, until: number): boolean =>
  until - LIMITS.passkeyChallengeLife >= clock.now()

/**
 * Starts adding a passkey. Authenticators that already hold one of the account refuse to make a second. What is refused after the
 * ceremony stays on the person's device, and is offered at every sign-in from then on.
 * @throws `conflict` if the account has the maximum number of passkeys
 */
export const beginAddingPasskey = async (
  work: Work,
  owner: PasskeyOwner,
  factor: Factor,
): Promise<PasskeyOptionsView> => {
  const [{ generateRegistrationOptions }, known] = await Promise.all([webauthn(), listPasskeys(work, owner.id)])
  if (known.length >= LIMITS.passkeysPerAccount) throw tooManyPasskeys()
  const site = relyingParty(work.settings)
  const options = await generateRegistrationOptions({
    timeout: LIMITS.passkeyChallengeLife,
    rpName: site.name,
    rpID: site.id,
    userID: new TextEncoder().encode(owner.id),
    userName: owner.name,
    userDisplayName: owner.displayName,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map(described),
    authenticatorSelection:
      factor === 'only'
        ? { residentKey: 'required', userVerification: 'required' }
        : { residentKey: 'preferred', userVerification: 'preferred' },
  })
  return begin(work, 'add', owner.id, options)
}

/** Starts presenting a passkey of an account, or at a sign-in (`owner` undefined) any passkey of this site. */
export const beginPresentingPasskey = async (
  work: Work,
  purpose: 'confirm' | 'sign_in',
  ownerId: string | undefined,
  factor: Factor,
): Promise<PasskeyOptionsView> => {
  const [{ generateAuthenticationOptions }, known] = await Promise.all([
    webauthn(),
    ownerId === undefined ? [] : listPasskeys(work, ownerId),
  ])
  const options = await generateAuthenticationOptions({
    timeout: LIMITS.passkeyChallengeLife,
    rpID: relyingParty(work.settings).id,
    userVerification: factor === 'only' ? 'required' : 'preferred',
    ...(ownerId !== undefined && { allowCredentials: known.map(described) }),
  })
  return begin(work, purpose, ownerId, options)
}

const described = ({ credential_id, transports }: Passkey) => ({
  id: credential_id,
  transports: transports as AuthenticatorTransport[],
})

const begin = async (
  work: Work,
  purpose: Purpose,
  owner_id: string | undefined,
  options: { challenge: string },
): Promise<PasskeyOptionsView> => {
  const id = work.id('passkeyChallenge')
  const expires_at = work.clock.now() + LIMITS.passkeyChallengeLife
  const view = { challenge_id: id, expires_in: LIMITS.passkeyChallengeLife / SECOND, options: { ...options } }
  await work.commit(
    [PasskeyChallengeEntity.create({ id, purpose, owner_id, challenge: options.challenge, expires_at })],
    view,
  )
  return view
}

/**
 * Checks a new credential.
 * @returns the passkey and the writes that store it and use up the challenge
 * @throws `validation_error` for an unknown challenge, or one that the credential doesn't answer
 */
export const verifyAddedPasskey = async (
  work: Work,
  ownerId: string,
  { challenge_id, name, credential }: AddPasskeyInput,
  factor: Factor,
): Promise<{ passkey: Passkey; writes: Write[] }> => {
  const challenge = await loadChallenge(work, challenge_id, 'add', ownerId)
  if (challenge === undefined) throw refusedChallenge()
  const { verifyRegistrationResponse } = await webauthn()
  const site = relyingParty(work.settings)
  const response = (await withoutAttestation(credential)) as unknown as RegistrationResponseJSON
  const verify = (requireUserVerification: boolean, supportedAlgorithmIDs: number[]) =>
    verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification,
      supportedAlgorithmIDs,
    }).catch(notVerified)
  if (isFromForeignFrame(credential)) throw refusedCredential(FOREIGN_FRAME)
  const found = await verify(factor === 'only', ALGORITHMS)
  if (!found?.verified) {
    // If this is the only check that failed, the error says so.
    if (factor === 'only' && (await verify(false, ALGORITHMS))?.verified) throw refusedCredential(UNVERIFIED_USER)
    const algorithm = await algorithmOf(credential)
    const isOther = algorithm !== undefined && !ALGORITHMS.includes(algorithm)
    if (isOther && (await verify(factor === 'only', [algorithm]))?.verified) throw refusedCredential(OTHER_ALGORITHM)
    throw refusedCredential(WRONG_ANSWER)
  }
  const { credential: made, credentialBackedUp } = found.registrationInfo
  const known = await listPasskeys(work, ownerId)
  if (known.some(({ credential_id }) => credential_id === made.id)) throw refusedCredential(KNOWN_ALREADY)
  const passkey: Passkey = {
    ...stampOf(work.id('passkey')),
    owner_id: ownerId,
    credential_id: made.id,
    public_key: Buffer.from(made.publicKey).toString('base64url'),
    counter: made.counter,
    transports: credential.response.transports ?? [],
    backed_up: credentialBackedUp,
    name,
  }
  return {
    passkey,
    writes: [
      PasskeyEntity.create(passkey),
      PasskeyChallengeEntity.delete({ id: challenge_id }, { where: { purpose: 'add' }, otherwise: refusedChallenge }),
    ],
  }
}

/**
 * Returns a new credential as a browser gives it that is asked for no attestation (WebAuthn Level 3 §5.4.7). Some authenticators attest
 * all the same. Nobody here reads who made a device, so a statement that the library can't verify is no reason to refuse the passkey.
 */
const withoutAttestation = async (credential: AddPasskeyInput['credential']): Promise<object> => {
  const { decodeAttestationObject, isoCBOR } = await webauthn()
  const given = { clientExtensionResults: {}, ...credential }
  try {
    const made = decodeAttestationObject(
      new Uint8Array(Buffer.from(credential.response.attestationObject, 'base64url')),
    )
    const plain = new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, string>()],
      ['authData', made.get('authData')],
    ])
    const attestationObject = Buffer.from(isoCBOR.encode(plain)).toString('base64url')
    return { ...given, response: { ...credential.response, attestationObject } }
  } catch {
    return given
  }
}

/** Returns the COSE algorithm of a new credential's key, if it can be read. */
const algorithmOf = async ({ response }: AddPasskeyInput['credential']): Promise<number | undefined> => {
  const { cose, decodeAttestationObject, decodeCredentialPublicKey, parseAuthenticatorData } = await webauthn()
  try {
    const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, 'base64url')))
    const { credentialPublicKey } = parseAuthenticatorData(attestation.get('authData'))
    return credentialPublicKey && decodeCredentialPublicKey(credentialPublicKey).get(cose.COSEKEYS.alg)
  } catch {
    return undefined
  }
}

/**
 * Checks the answer of a passkey.
 * @param ownerId account that must own the passkey. At a sign-in, the account that the passkey names.
 * @returns the passkey and the writes that record its use and use up the challenge, or why the answer is refused
 */
export const verifyPresentedPasskey = async (
  work: Work,
  purpose: 'confirm' | 'sign_in',
  ownerId: string,
  { challenge_id, credential }: PresentPasskeyInput,
  factor: Factor,
): Promise<
  | { passkey: Passkey; writes: Write[] }
  | { refusal: Exclude<PasskeyRefusal, 'counter' | 'elsewhere'> }
  | { refusal: 'counter'; passkey: Passkey }
> => {
  const [challenge, known] = await Promise.all([
    loadChallenge(work, challenge_id, purpose, purpose === 'sign_in' ? undefined : ownerId),
    listPasskeys(work, ownerId),
  ])
  const passkey = known.find(({ credential_id }) => credential_id === credential.id)
  if (challenge === undefined) return { refusal: 'wrong' }
  if (!passkey) return { refusal: 'unknown' }
  if (isFromForeignFrame(credential)) return { refusal: 'wrong' }
  const { verifyAuthenticationResponse } = await webauthn()
  const site = relyingParty(work.settings)
  const verify = (requireUserVerification: boolean, counter: number) =>
    verifyAuthenticationResponse({
      response: { clientExtensionResults: {}, ...credential } as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter,
      },
    }).catch(notVerified)
  const found = await verify(factor === 'only', passkey.counter)
  if (!found?.verified) {
    // If this is the only check that failed, the error says so. Only the owner's authenticator gets this far.
    if (factor === 'only' && (await verify(false, passkey.counter))?.verified) return { refusal: 'unverified_user' }
    if (await hasOldCounter(verify, factor, credential, passkey)) return { refusal: 'counter', passkey }
    return { refusal: 'wrong' }
  }
  const { newCounter, credentialBackedUp } = found.authenticationInfo
  return {
    passkey,
    writes: [
      PasskeyEntity.update(
        passkey,
        { set: { counter: newCounter, backed_up: credentialBackedUp, last_used_at: work.clock.now() } },
        // Of two answers with the same counter, one comes from a copy.
        { where: { counter: passkey.counter }, otherwise: usedMeanwhile },
      ),
      PasskeyChallengeEntity.delete({ id: challenge_id }, { where: { purpose }, otherwise: refusedChallenge }),
    ],
  }
}

/** Returns whether an answer is right but for a counter that isn't above the stored one. */
const hasOldCounter = async (
  verify: (requireUserVerification: boolean, counter: number) => Promise<{ verified: boolean } | undefined>,
  factor: Factor,
  { response }: PresentPasskeyInput['credential'],
  { counter }: Passkey,
): Promise<boolean> => {
  const data = Buffer.from(response.authenticatorData, 'base64url')
  // The counter follows 32 bytes of a hash and one of flags (WebAuthn Level 3 §6.1).
  const sent = data.length >= 37 ? data.readUInt32BE(33) : undefined
  if (sent === undefined || counter === 0 || sent > counter) return false
  return (await verify(factor === 'only', sent === 0 ? 0 : sent - 1))?.verified === true
}

/** Reports whether a credential was used in a frame of another site, which the library notices only with a top origin. */
const isFromForeignFrame = ({ response }: { response: { clientDataJSON: string } }): boolean => {
  try {
    return JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()).crossOrigin === true
  } catch {
    return false
  }
}

/** Returns the account that a passkey names at a sign-in. The answer is still to be verified. */
export const ownerOfPresented = ({ credential }: PresentPasskeyInput): string =>
  Buffer.from(credential.response.userHandle ?? '', 'base64url').toString()

/** Returns the write that removes a passkey. @throws `not_found` if the account has no such passkey */
export const removePasskeyWrite = (owner_id: string, id: string): Write =>
  PasskeyEntity.delete({ owner_id, id }, { where: { owner_id }, otherwise: noPasskey })

export const noPasskey = () => fail('not_found', { message: 'You have no passkey with this id.' })

export const tooManyPasskeys = () =>
  fail('conflict', {
    message: `The account already has the maximum of ${LIMITS.passkeysPerAccount} passkeys.`,
    fix: 'Remove a passkey that is no longer used.',
  })

const loadChallenge = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  id: string,
  purpose: Purpose,
  ownerId: string | undefined,
): Promise<string | undefined> => {
  const found = isId('passkeyChallenge', id) ? await table.get(PasskeyChallengeEntity, { id }) : undefined
  const isUsable = found && found.purpose === purpose && found.owner_id === ownerId && found.expires_at > clock.now()
  return isUsable ? found.challenge : undefined
}

/** The library throws plain errors for credentials that don't match. */
const notVerified = (): undefined => undefined

const refusedChallenge = () =>
  fail('validation_error', {
    message: 'The challenge is unknown, expired or already used.',
    fix: 'Start again with the first step, within 5 minutes.',
    details: { fields: { challenge_id: ['is unknown, expired or already used'] } },
  })

const usedMeanwhile = () =>
  fail('conflict', { message: 'The passkey was used by another request.', fix: 'Present the passkey again.' })
