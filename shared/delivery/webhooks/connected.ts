import * as z from 'zod'
import { type Installed, listInstallations, loadInstalled } from '#shared/access/installations/index.ts'
import { logoPath, logoPathField } from '#shared/catalogue/logos/index.ts'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { originIn } from '#shared/kernel/folded-address.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Page } from '#shared/table/table.ts'
import { DELIVERY_STATUSES, type Delivery, type Subscription, SubscriptionEntity } from './entity.ts'
import { listPauses } from './paused.ts'
import { presentDelivery } from './present.ts'
import { webhookNotFound } from './read.ts'

/** A subscription with the app that made it. */
export interface ConnectedWebhook extends Installed {
  webhook: Subscription
}

/**
 * A subscription as admins of the workspace see it (contract/events-and-webhooks.md#paused-by-an-admin). Of its address they
 * see the origin only, because paths and queries of such addresses often hold a secret of the receiver.
 */
export const ConnectedWebhookSchema = () =>
  z
    .object({
      id: idField('whk'),
      installation_id: idField('ins'),
      app: z.object({
        id: idField('app'),
        name: z.string(),
        logo_path: logoPathField(),
      }),
      origin: z.string().meta({
        description: 'Where events are sent, without path and query, which may hold secrets.',
        example: 'https://example.com',
      }),
      events: z.array(z.string()).meta({ example: ['run.*'] }),
      description: z.string(),
      status: z.enum(['active', 'disabled', 'paused']).meta({
        description: '`paused` by an admin; `disabled` by the app, or after deliveries failed.',
      }),
      last_error: z.string().nullable(),
      consecutive_failures: z.number().int(),
      created_at: time(),
      disabled_at: time().nullable(),
    })
    .meta({ id: 'ConnectedWebhook' })

export type ConnectedWebhookView = z.infer<ReturnType<typeof ConnectedWebhookSchema>>

/** A delivery as admins of the workspace see it: without the receiver's response. */
export const ConnectedDeliverySchema = () =>
  z
    .object({
      id: idField('whd'),
      event_type: z.string(),
      status: z.enum(DELIVERY_STATUSES),
      attempt: z.number().int().meta({ description: 'Number of attempts made.' }),
      next_attempt_at: time().nullable(),
      created_at: time(),
      attempts: z
        .array(
          z.object({
            n: z.number().int(),
            at: time(),
            duration_ms: z.number().int(),
            response_code: z.number().int().nullable(),
          }),
        )
        .meta({ description: 'The latest 20, oldest first.' }),
    })
    .meta({ id: 'ConnectedDelivery' })

export const presentConnected = ({ webhook, installation, app }: ConnectedWebhook): ConnectedWebhookView => ({
  id: webhook.id,
  installation_id: installation.id,
  app: { id: app.id, name: app.name, logo_path: logoPath(app) },
  origin: originIn(webhook.url),
  events: webhook.events,
  description: webhook.description,
  status: webhook.paused ? 'paused' : webhook.status,
  last_error: webhook.last_error,
  consecutive_failures: webhook.consecutive_failures,
  created_at: iso(webhook.created_at),
  disabled_at: webhook.disabled_at === null ? null : iso(webhook.disabled_at),
})

export const presentConnectedDelivery = (
  delivery: Delivery,
  { webhook }: ConnectedWebhook,
): z.infer<ReturnType<typeof ConnectedDeliverySchema>> => {
  const { id, event_type, status, attempt, next_attempt_at, created_at, attempts } = presentDelivery(delivery, webhook)
  return {
    id,
    event_type,
    status,
    attempt,
    next_attempt_at,
    created_at,
    attempts: attempts.map(({ n, at, duration_ms, response_code }) => ({ n, at, duration_ms, response_code })),
  }
}

/** Installations whose subscriptions one page reads. */
const INSTALLATIONS = 10

/**
 * Lists subscriptions of an app's former installations that an admin paused. The pause is still in effect, and its
 * subscription says what was paused.
 */
const listPausedFormerly = async (
  deps: Pick<Deps, 'table'>,
  { installation: { id, workspace_id, app_id } }: Installed,
): Promise<Subscription[]> => {
  const pauses = (await listPauses(deps, { workspace_id, app_id })).filter((one) => one.installation_id !== id)
  const webhooks = await deps.table.getAll(
    pauses.map(({ installation_id, webhook_id }) => SubscriptionEntity.ref({ installation_id, id: webhook_id })),
  )
  return webhooks.filter((webhook) => webhook !== undefined)
}

/**
 * Lists the subscriptions of a workspace's installed apps, those of the newest installation first. A page ends with an
 * installation, so it may hold fewer than its limit.
 */
export const listConnectedWebhooks = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Page<ConnectedWebhook>> => {
  const [, skipped = '0', from = ''] = /^(\d+) (.*)$/.exec(after ?? '') ?? []
  const page = await listInstallations(deps, workspaceId, {
    limit: INSTALLATIONS,
    ...(from !== '' && { after: from }),
  })
  const found = await Promise.all(
    page.items.map(async (installed) => {
      const [{ items }, former] = await Promise.all([
        deps.table.query(
          SubscriptionEntity,
          { installation_id: installed.installation.id },
          { limit: LIMITS.webhooksPerInstallation },
        ),
        listPausedFormerly(deps, installed),
      ])
      return [...items, ...former].map((webhook) => ({ ...installed, webhook }))
    }),
  )
  const all = found.flat()
  const end = Number(skipped) + limit
  const items = all.slice(Number(skipped), end)
  if (end < all.length) return { items, next: `${end} ${from}` }
  return { items, next: page.next === undefined ? undefined : `0 ${page.next}` }
}

/**
 * Loads a subscription of one of the workspace's installed apps, or of its former installation if it is still paused.
 * @throws `not_found`, also for another workspace's
 */
export const loadConnectedWebhook = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  installationId: string,
  id: string,
): Promise<ConnectedWebhook> => {
  const [installed, own] = await Promise.all([
    loadInstalled(deps, workspaceId, installationId),
    deps.table.get(SubscriptionEntity, { installation_id: installationId, id }),
  ])
  const webhook = own ?? (await listPausedFormerly(deps, installed)).find((former) => former.id === id)
  if (!webhook) throw webhookNotFound()
  return { ...installed, webhook }
}
