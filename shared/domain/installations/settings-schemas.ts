import * as z from 'zod'

const secretShown = () => z.object({ set: z.literal(true) })

/** `PUT /console/installations/{id}/settings` (decisions §9). */
export const WriteSettings = () =>
  z
    .strictObject({
      values: z.record(z.string().max(200), z.unknown()).meta({
        description:
          'All settings, by name. One that is not given goes back to its default, but a secret stays; null takes either away.',
        example: { region: 'eu', api_key: { set: true } },
      }),
    })
    .meta({ id: 'WriteSettings' })

/** An installation's settings and the form for them. */
export const SettingsSchema = () =>
  z
    .object({
      schema: z.record(z.string(), z.unknown()).meta({
        description:
          'The `config` of the attached version: a JSON Schema of an object of scalars; `writeOnly` marks a secret. An object ' +
          'without properties where there is nothing to set.',
        example: { type: 'object', properties: { region: { type: 'string', default: 'eu' } } },
      }),
      values: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), secretShown()]))
        .meta({ description: 'What is set, and defaults. A secret that is set is `{"set": true}`.' }),
      settings_complete: z.boolean(),
      missing_settings: z.array(z.string()).meta({ description: 'Required, without a value or a default.' }),
    })
    .meta({ id: 'InstallationSettings' })

export type SettingsView = z.infer<ReturnType<typeof SettingsSchema>>
