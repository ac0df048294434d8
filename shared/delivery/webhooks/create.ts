import { type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { ScopeHolder } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { placeIn } from '#shared/kernel/folded-address.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { newSigningSecret } from '#shared/kernel/signatures.ts'
import type { ItemOf, Write } from '#shared/table/entity.ts'
import { either, exists, lt, missing } from '#shared/table/expressions.ts'
import { requireReadable } from '../catalogue/readable.ts'
import { SandboxAddressEntity, type Subscription, SubscriptionEntity } from './entity.ts'
import { notPausedCheck, pausedWebhook } from './paused.ts'
import { presentWebhook } from './present.ts'
import { webhookNotFound } from './read.ts'
import type { CreateWebhook, WebhookView } from './schemas.ts'
import { sealSecret } from './secrets.ts'

/**
 * Counter that limits an installation to twenty subscriptions, exactly, under any concurrency. `arrivals` grows whenever one
 * gets an address, so that a pause finds it.
 */
export const counterOf = (installationId: string) => ({ owner: installationId, counter: 'webhooks' })

export interface Subscriber extends ScopeHolder {
  installation: Installation
}

/**
 * Creates a subscription. Creation checks the address's form and rejects forbidden literals. Each request resolves its
 * name and checks every resolved address (contract/outgoing-requests.md#forbidden-targets).
 * @returns the subscription with its secret, which is never shown again
 * @throws `insufficient_scope` for types that the subscriber may not read; `blocked_target`, `webhook_limit_reached`,
 * `conflict` for an address that a sandbox or a paused subscription already has
 */
export const createWebhook = async (
  work: Work,
  { installation, ...holder }: Subscriber,
  input: CreateWebhook,
): Promise<WebhookView & { secret: string }> => {
  requireReadable(input.events, holder)
  checkAddress(work, input.url)
  const id = work.id('webhook')
  const secret = newSigningSecret('whsec_')
  const sealed = await sealSecret(work, { id, workspace_id: installation.workspace_id }, secret)
  const webhook: Subscription = {
    ...stampOf(id),
    installation_id: installation.id,
    workspace_id: installation.workspace_id,
    app_id: installation.app_id,
    url: input.url,
    events: [...new Set(input.events)],
    description: input.description,
    filter: input.filter ?? undefined,
    max_per_minute: input.max_per_minute ?? undefined,
    status: 'active',
    last_error: null,
    consecutive_failures: 0,
    secrets: [{ value: sealed }],
    secret_version: 1,
    generation: 1,
    disabled_at: null,
  }
  const view = { ...presentWebhook(webhook), secret }
  const address = await addressWrites(work, installation, webhook)
  await work.commit([SubscriptionEntity.create(webhook), oneMore(installation.id), ...address], view)
  return view
}

/** Checks an address's form, and refuses forbidden literals. @throws `blocked_target` */
export const checkAddress = ({ http }: Work, url: string): void => {
  const reason = http.checkAddress(url)
  if (reason === undefined) return
  throw fail('blocked_target', {
    message: `url is forbidden. ${reason}`,
    details: { reason, fields: { url: [reason] } },
  })
}

/** Returns the writes that let a subscription have its address. @throws also the writes: `conflict` */
export const addressWrites = async (
  work: Work,
  { is_sandbox }: Installation,
  webhook: Subscription,
): Promise<Write[]> => [notPausedCheck(webhook), ...(is_sandbox ? [await onlyOfAddress(work, webhook)] : [])]

const oneMore = (installationId: string): Write =>
  CounterEntity.upsert(
    counterOf(installationId),
    { set: counterOf(installationId), add: { n: 1, arrivals: 1 } },
    {
      where: { n: either(missing, lt(LIMITS.webhooksPerInstallation)) },
      otherwise: () =>
        fail('webhook_limit_reached', {
          message: `The installation has ${LIMITS.webhooksPerInstallation} webhook subscriptions, which is the limit.`,
        }),
    },
  )

/** Write that tells a pause at the same moment of a subscription's new address. */
export const moved = (installationId: string): Write =>
  CounterEntity.update(counterOf(installationId), { add: { arrivals: 1 } })

/**
 * Returns the write that makes this the sandbox's only subscription for its address. Accounts are free.
 * Without this limit, one developer's many sandboxes could turn each event into a flood at somebody else's server.
 */
const onlyOfAddress = async (work: Work, webhook: Subscription): Promise<Write> => {
  const { workspace_id, installation_id, id: webhook_id } = webhook
  const url_hash = hashOf(webhook.url)
  const known = await work.table.get(SandboxAddressEntity, { workspace_id, url_hash })
  if (known && known.webhook_id !== webhook_id && (await isInUse(work, known))) throw addressTaken(known)
  return SandboxAddressEntity.replace(
    { workspace_id, url_hash, installation_id, webhook_id },
    { where: { webhook_id: known?.webhook_id ?? missing }, otherwise: addressTaken },
  )
}

const hashOf = (url: string): string => sha256(placeIn(url))

const isInUse = async (
  { table }: Work,
  { workspace_id, url_hash, installation_id, webhook_id }: ItemOf<typeof SandboxAddressEntity>,
): Promise<boolean> => {
  const [webhook, installation] = await table.getAll([
    SubscriptionEntity.ref({ installation_id, id: webhook_id }),
    InstallationEntity.ref({ workspace_id, id: installation_id }),
  ] as const)
  const isThere = webhook !== undefined && hashOf(webhook.url) === url_hash
  return isThere && installation !== undefined && installation.status !== 'revoked'
}

const addressTaken = (known: { webhook_id: string } | undefined): PlatformError =>
  fail('conflict', {
    message: `In a sandbox, an address has one subscription. This one has ${known?.webhook_id ?? 'another'}.`,
    fix: 'Use that subscription, delete it first, or choose another address.',
  })

/**
 * Deletes a subscription. Its pending deliveries are dropped.
 * @throws `not_found`; `conflict` for one that an admin paused, because its pause would end with it
 */
export const deleteWebhook = async (work: Work, installation_id: string, id: string): Promise<void> => {
  await work.commit([
    SubscriptionEntity.delete(
      { installation_id, id },
      {
        where: { id: exists, paused: missing },
        otherwise: (current) => (current ? pausedWebhook() : webhookNotFound()),
      },
    ),
    CounterEntity.update(counterOf(installation_id), { add: { n: -1 } }),
  ])
}
