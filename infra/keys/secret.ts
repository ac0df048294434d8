import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'
import { OperatorError } from '../operator/command.ts'

/** A keyring's text as it is now. */
export interface RingVersion {
  text: string
  /** The secret's version. */
  version: string
  /** When it became so, in epoch ms. */
  changedAt: number
}

export interface RingStore {
  read(): Promise<RingVersion>
  /**
   * Puts a text in the place of the version that was read.
   * @throws {OperatorError} if that one is not the current one any more; nothing is changed then
   */
  replace(before: RingVersion, text: string): Promise<void>
}

/** Carried by a version until it is current, so that it is not one without a label, which may be removed. */
const PROPOSED = 'PLATFORM_PROPOSED'

/**
 * A keyring in Secrets Manager. A put would win over whatever came meanwhile; so a version is put under a label of its own, and
 * `AWSCURRENT` moved to it from the version that was read, which Secrets Manager refuses when it is not there any more. The
 * version before becomes `AWSPREVIOUS`.
 */
export function ringStore(client: SecretsManagerClient, SecretId: string): RingStore {
  const read = async (): Promise<RingVersion> => {
    const {
      SecretString = '',
      VersionId = '',
      CreatedDate,
    } = await client.send(new GetSecretValueCommand({ SecretId }))
    return { text: SecretString, version: VersionId, changedAt: CreatedDate?.getTime() ?? 0 }
  }
  const move = async (VersionStage: string, from: string | undefined, to: string | undefined) => {
    const input = { SecretId, VersionStage, RemoveFromVersionId: from, MoveToVersionId: to }
    await client.send(new UpdateSecretVersionStageCommand(input))
  }
  return {
    read,
    async replace(before, text) {
      const put = new PutSecretValueCommand({ SecretId, SecretString: text, VersionStages: [PROPOSED] })
      const { VersionId } = await client.send(put)
      try {
        await move('AWSCURRENT', before.version, VersionId)
      } catch (error) {
        const { version } = await read()
        // Moved, and the answer was lost.
        if (version !== VersionId) throw version === before.version ? error : changedMeanwhile()
      }
      // Another's proposal may have the label by now.
      await move(PROPOSED, VersionId, undefined).catch(() => undefined)
    },
  }
}

const changedMeanwhile = () =>
  new OperatorError(
    'Somebody else changed this keyring at the same time. Run the command again: it goes on from there.',
  )
