import * as z from 'zod'

const secretShown = () => z.object({ set: z.literal(true) })

/** Body of `PUT /console/installations/{id}/settings` (contract/installations.md#settings). */
export const WriteSettings = () =>
  z
    .strictObject({
      values: z.record(z.string().max(200), z.unknown()).meta({
        description:
          'All settings, by name. An omitted setting returns to its default, but an omitted secret stays. Null removes either.',
        example: { region: 'eu', api_key: { set: true } },
      }),
    })
    .meta({ id: 'WriteSettings' })

/** An installation's settings and their form. */
export const SettingsSchema = () =>
  z
    .object({
      schema: z.record(z.string(), z.unknown()).meta({
        description:
          'The `config` of the attached version: a JSON Schema of an object of scalars; `writeOnly` marks a secret. An object ' +
          'without properties if there is nothing to set.',
        example: { type: 'object', properties: { region: { type: 'string', default: 'eu' } } },
      }),
      values: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), secretShown()]))
        .meta({ description: 'Current values and defaults. A secret with a value is `{"set": true}`.' }),
      settings_complete: z.boolean(),
      missing_settings: z.array(z.string()).meta({ description: 'Required settings without a value or a default.' }),
    })
    .meta({ id: 'InstallationSettings' })

export type SettingsView = z.infer<ReturnType<typeof SettingsSchema>>
