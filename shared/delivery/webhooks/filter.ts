import * as z from 'zod'

/** Returns the schema of a subscription's filter (contract/events-and-webhooks.md#filters). */
export const webhookFilter = () =>
  z
    .record(
      z
        .string()
        .max(100)
        .regex(/^[\w-]+(\.[\w-]+){0,4}$/, 'must be a field of data, such as status or order.kind'),
      z
        .array(z.union([z.string().max(200), z.number(), z.boolean(), z.null()]))
        .min(1)
        .max(20),
    )
    .refine((filter) => Object.keys(filter).length <= 10, 'must have at most 10 fields')
    .meta({
      id: 'WebhookFilter',
      description: 'Allowed values by field of `data`, such as `order.kind`. Events that lack one aren’t sent.',
      example: { 'order.kind': ['gift', 'sample'] },
    })

export type WebhookFilter = z.infer<ReturnType<typeof webhookFilter>>

/** Returns whether an event's data has one of the allowed values in each field. In a list, one element is enough. */
export const matchesFilter = (filter: WebhookFilter | undefined, data: unknown): boolean =>
  Object.entries(filter ?? {}).every(([path, allowed]) => {
    const value = path
      .split('.')
      .reduce<unknown>(
        (inner, name) =>
          typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
            ? (inner as Record<string, unknown>)[name]
            : undefined,
        data,
      )
    return (Array.isArray(value) ? value : [value]).some((one) => (allowed as unknown[]).includes(one))
  })
