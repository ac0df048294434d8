import * as z from 'zod'

const count = () => z.number().int().min(0)

const day = () =>
  z.object({
    date: z.string().meta({ example: '2026-11-21' }),
    runs: z.object({
      created: count().meta({ description: 'Includes runs in sandboxes.' }),
      in_sandboxes: count(),
      succeeded: count(),
      failed: count(),
      cancelled: count(),
    }),
    cost_units: z.number().meta({ description: 'Cost of runs that ended on this day.' }),
    new_developers: count().meta({ description: 'Each developer has a sandbox workspace.' }),
    new_apps: count(),
    new_workspaces: count().meta({ description: 'Workspaces of customers, without sandboxes.' }),
    installed: count(),
    uninstalled: count(),
    webhook_deliveries: z.object({ succeeded: count(), failed: count() }),
  })

/** `GET /admin/metrics`. */
export const MetricsSchema = () =>
  z
    .object({
      time_zone: z.string().meta({ example: 'Europe/Zurich' }),
      from: z.string().meta({ example: '2026-10-23' }),
      to: z.string().meta({ example: '2026-11-21' }),
      daily: z.array(day()).meta({ description: 'Every day of the period, oldest first.' }),
    })
    .meta({ id: 'PlatformMetrics' })

export type MetricsView = z.infer<ReturnType<typeof MetricsSchema>>
