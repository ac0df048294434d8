import * as z from 'zod'
import { APP_STATUSES } from '#shared/catalogue/apps/index.ts'
import { time } from '#shared/foundation/schemas/index.ts'

const count = () => z.number().int().min(0)

const counts = <K extends string>(names: readonly K[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, count()])) as { [N in K]: ReturnType<typeof count> })

const runs = () =>
  z.object({
    created: count().meta({ description: 'Including those in sandboxes.', example: 1_204 }),
    in_sandboxes: count().meta({ description: 'Created in sandbox workspaces.' }),
    succeeded: count().meta({ description: 'Succeeded in this period, whenever they were created.' }),
    failed: count(),
    cancelled: count(),
  })

const deliveries = () =>
  z.object({
    succeeded: count(),
    failed: count().meta({ description: 'Dead-lettered after the last attempt.' }),
  })

/** Response of `GET /admin/overview`. */
export const OverviewSchema = () =>
  z
    .object({
      developers: z.object({
        total: count(),
        ...counts(['active', 'blocked', 'verified']).shape,
      }),
      apps: z.object({ total: count(), by_status: counts(APP_STATUSES) }),
      workspaces: z.object({
        customer: counts(['active', 'suspended', 'deleting']),
        sandbox: counts(['active', 'suspended', 'deleting']),
      }),
      installations: counts(['active', 'suspended']).meta({
        description: 'In customers’ workspaces and in sandboxes.',
      }),
      runs: z.object({
        active: count().meta({ description: 'Queued, running or waiting for approval.' }),
        today: runs().meta({ description: 'Since midnight UTC.' }),
        last_7_days: runs().meta({ description: 'Today and the previous six days.' }),
      }),
      webhook_deliveries: z.object({ today: deliveries(), last_7_days: deliveries() }),
      waiting: counts([
        'apps_in_review',
        'versions_in_review',
        'revisions_in_review',
        'abuse_reports',
        'verifications',
      ]).meta({
        description: 'Items waiting for a moderator’s decision.',
      }),
      as_of: time(),
    })
    .meta({ id: 'PlatformOverview' })

export type OverviewView = z.infer<ReturnType<typeof OverviewSchema>>
