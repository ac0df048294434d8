import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'
import { OperatorError } from '../command.ts'

/** Current version of a keyring. */
export interface RingVersion {
  text: string
  /** Version id of the secret. */
  version: string
  /** Time of the change, in epoch ms. */
  changedAt: number
}

export interface RingStore {
  read(): Promise<RingVersion>
  /**
   * Replaces the version that was read.
   * @throws {OperatorError} if that version is no longer the current one; then nothing changes
   */
  replace(before: RingVersion, text: string): Promise<void>
}

/** Label of a version until it is current. Secrets Manager may remove versions without a label. */
const PROPOSED = 'PLATFORM_PROPOSED'

/**
 * Stores a keyring in Secrets Manager. A plain put would overwrite concurrent changes. So a new version is put under a separate label,
 * and `AWSCURRENT` is then moved to it from the version that was read. Secrets Manager refuses the move if another version is current
 * by then. The previous version becomes `AWSPREVIOUS`.
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
        // The move succeeded, but its answer was lost.
        if (version !== VersionId) throw version === before.version ? error : changedMeanwhile()
      }
      // A concurrent proposal may have the label by now.
      await move(PROPOSED, VersionId, undefined).catch(() => undefined)
    },
  }
}

const changedMeanwhile = () =>
  new OperatorError(
    'Someone else changed this keyring at the same time. Run the command again: it continues from there.',
  )
