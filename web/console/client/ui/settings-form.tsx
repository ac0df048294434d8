import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Form } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { api, unwrap } from '../api.ts'
import { type ObjectSchema, objectFrom, SchemaFields, type Typed, typedFrom } from './schema-fields.tsx'

const isSecretSet = (value: unknown): boolean => typeof value === 'object' && value !== null && 'set' in value

/** A form generated from the agent's `config`, a JSON Schema for an object of scalars. */
export const SettingsForm = ({
  id,
  schema,
  values,
  readOnly,
}: {
  id: string
  schema: ObjectSchema
  values: Record<string, unknown>
  readOnly: boolean
}) => {
  const settings = Object.entries(schema.properties ?? {})
  const isSet = (name: string): boolean => isSecretSet(values[name])
  const [typed, setTyped] = useState<Typed>(() =>
    Object.fromEntries(settings.map(([name, setting]) => [name, isSet(name) ? '' : typedFrom(setting, values[name])])),
  )
  if (settings.length === 0) return <p class="soft">{t('This agent has no settings.')}</p>
  const send = async (): Promise<void> => {
    await unwrap(
      api.PUT('/console/installations/{id}/settings', {
        params: { path: { id } },
        body: { values: objectFrom(schema, typed) },
      }),
    )
    announce(t('Settings saved. Changes apply to the next run.'))
    // Secrets must not stay in the page.
    setTyped((before) => ({
      ...before,
      ...Object.fromEntries(settings.flatMap(([name, { writeOnly }]) => (writeOnly ? [[name, '']] : []))),
    }))
    await refresh('installations')
  }
  return (
    <Form verb={t('Save settings')} send={send} disabled={readOnly}>
      {(failure) => {
        const problems = fieldProblems(failure)
        return (
          <SchemaFields
            schema={schema}
            typed={typed}
            onTyped={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
            problemOf={(name) => problems[name] ?? problems[`values.${name}`]}
            hintOf={(name, setting) =>
              [
                isSet(name) && t('Already set. Leave this empty to keep the current value.'),
                setting.default !== undefined && `Default: ${sanitize(String(setting.default))}`,
              ]
                .filter(Boolean)
                .join(' ')
            }
            isSet={isSet}
            defaultsApply
            readOnly={readOnly}
          />
        )
      }}
    </Form>
  )
}
