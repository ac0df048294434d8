import type { Deps } from '#shared/foundation/work/index.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import type { Subscription } from './entity.ts'

/** Returns the record name that a subscription's secrets are sealed for. */
const recordOf = (webhookId: string): string => `webhook-secret:${webhookId}`

export const sealSecret = (
  { keys }: Pick<Deps, 'keys'>,
  { id, workspace_id }: Pick<Subscription, 'id' | 'workspace_id'>,
  secret: string,
): Promise<string> => seal(keys.ofWorkspace(workspace_id), recordOf(id), secret)

/** Returns the secrets that are currently valid. */
export const validSecrets = ({ secrets }: Subscription, now: number): Subscription['secrets'] =>
  secrets.filter(({ until }) => until === undefined || until > now)

/** Decrypts the secrets that currently sign, newest first. There are several while a rotation overlaps. */
export const decryptSecrets = async (
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  webhook: Subscription,
): Promise<string[]> => {
  const key = keys.ofWorkspace(webhook.workspace_id)
  return Promise.all(validSecrets(webhook, clock.now()).map(({ value }) => unseal(key, recordOf(webhook.id), value)))
}
