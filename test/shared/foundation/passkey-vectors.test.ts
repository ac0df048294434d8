import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { PasskeyChallengeEntity, type Purpose } from '#shared/foundation/passkeys/entity.ts'
import { verifyAddedPasskey, verifyPresentedPasskey } from '#shared/foundation/passkeys/index.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { newId } from '#shared/kernel/ids.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

interface Vector {
  name: string
  credential_id: string
  registration: { challenge: string; clientDataJSON: string; attestationObject: string }
  authentication: { challenge: string; clientDataJSON: string; authenticatorData: string; signature: string }
}

/** WebAuthn’s own test vectors (W3C Web Authentication Level 3, “Test Vectors”). */
const { origin, vectors } = JSON.parse(readFileSync(path.join(ROOT, 'test/vectors/webauthn.json'), 'utf8')) as {
  origin: string
  vectors: Vector[]
}

/** Vectors that are refused, with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  'ES256 Credential with "crossOrigin": true in clientDataJSON': 'The credential was made in a frame of another site.',
  'ES256 Credential with "topOrigin" in clientDataJSON': 'The credential was made in a frame of another site.',
  'Packed Attestation with ES384 Credential': 'The passkey uses an algorithm that wasn’t asked for.',
  'Packed Attestation with ES512 Credential': 'The passkey uses an algorithm that wasn’t asked for.',
  'Packed Attestation with Ed448 Credential': 'The passkey uses an algorithm that wasn’t asked for.',
}

const platform = usingPlatform()
beforeAll(() => void Object.assign(platform.deps.settings, { baseUrl: origin }))

/** Adds the passkey of a vector, and signs in with it, as second factor, because the vectors set the bit of verification at random. */
const play = async ({ credential_id: id, registration, authentication }: Vector) => {
  const work = createWorkerWork(platform.deps)
  const owner = newId('admin', platform.clock.now())
  const begun = async (purpose: Purpose, challenge: string, owner_id?: string) => {
    const challengeId = newId('passkeyChallenge', platform.clock.now())
    const expires_at = platform.clock.now() + 60_000
    await platform.deps.table.transact([
      PasskeyChallengeEntity.create({ id: challengeId, purpose, owner_id, challenge, expires_at }),
    ])
    return challengeId
  }
  const credential = { id, rawId: id, type: 'public-key' as const }
  const { challenge, ...made } = registration
  const challenge_id = await begun('add', challenge, owner)
  const input = { challenge_id, name: 'Key', credential: { ...credential, response: made } }
  const { writes } = await verifyAddedPasskey(work, owner, input, 'second')
  await platform.deps.table.transact(writes)
  const { challenge: asked, ...answer } = authentication
  const presented = {
    challenge_id: await begun('confirm', asked, owner),
    credential: { ...credential, response: answer },
  }
  return verifyPresentedPasskey(work, 'confirm', owner, presented, 'second')
}

describe('a passkey of WebAuthn’s test vectors', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (name, vector) => {
    const played = play(vector)
    const reason = REFUSED[name]
    if (reason) await expect(played).rejects.toThrow(reason)
    else expect(await played).toMatchObject({ passkey: { credential_id: vector.credential_id } })
  })
})
