import * as z from 'zod'
import { APP_STATUSES } from '../../entities/apps.ts'
import { time } from '../fields.ts'

const count = () => z.number().int().min(0)

const counts = <K extends string>(names: readonly K[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, count()])) as { [N in K]: ReturnType<typeof count> })

const runs = () =>
  z.object({
    created: count().meta({ description: 'Sandboxes’ among them.', example: 1_204 }),
    in_sandboxes: count().meta({ description: 'Of those created, in sandbox workspaces.' }),
    succeeded: count().meta({ description: 'Ended so in this time, whenever they were created.' }),
    failed: count(),
    cancelled: count(),
  })

const deliveries = () =>
  z.object({
    succeeded: count(),
    failed: count().meta({ description: 'Given up after the last attempt.' }),
  })

/** `GET /admin/overview`. */
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
      installations: counts(['active', 'suspended']).meta({ description: 'Customers’ and sandboxes’.' }),
      runs: z.object({
        active: count().meta({ description: 'Queued, running or waiting for an approval.' }),
        today: runs().meta({ description: 'Since midnight in UTC.' }),
        last_7_days: runs().meta({ description: 'Today and the six days before.' }),
      }),
      webhook_deliveries: z.object({ today: deliveries(), last_7_days: deliveries() }),
      waiting: counts(['apps_in_review', 'versions_in_review', 'abuse_reports', 'verifications']).meta({
        description: 'What moderation has to decide.',
      }),
      as_of: time(),
    })
    .meta({ id: 'PlatformOverview' })

export type OverviewView = z.infer<ReturnType<typeof OverviewSchema>>
