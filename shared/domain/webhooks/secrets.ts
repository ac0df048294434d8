import type { Subscription } from '../../entities/webhooks.ts'
import { seal, unseal } from '../../kernel/sealed.ts'
import type { Deps } from '../deps.ts'

/** The record name that a subscription's secrets are sealed for. */
const recordOf = (webhookId: string): string => `webhook-secret:${webhookId}`

export const sealSecret = async ({ keys }: Pick<Deps, 'keys'>, webhookId: string, secret: string): Promise<string> =>
  seal(await keys.data(), recordOf(webhookId), secret)

/** Those that are valid now. */
export const validSecrets = ({ secrets }: Subscription, now: number): Subscription['secrets'] =>
  secrets.filter(({ until }) => until === undefined || until > now)

/** The secrets that sign now, newest first: two or more while a rotation overlaps. */
export const openSecrets = async (
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  webhook: Subscription,
): Promise<string[]> => {
  const ring = await keys.data()
  return Promise.all(validSecrets(webhook, clock.now()).map(({ value }) => unseal(ring, recordOf(webhook.id), value)))
}
