import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Field, Form } from '../../../ui/form.tsx'
import { humanize } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { api, unwrap } from '../api.ts'

interface Setting {
  type?: 'string' | 'number' | 'integer' | 'boolean'
  title?: string
  description?: string
  default?: unknown
  enum?: unknown[]
  writeOnly?: boolean
  readOnly?: boolean
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

type Values = Record<string, unknown>
type Typed = Record<string, string | boolean | undefined>

const isSecretSet = (value: unknown): boolean => typeof value === 'object' && value !== null && 'set' in value

/** Converts an input to the setting's value. Undefined is omitted, which restores the default. */
const settingValue = (setting: Setting, typed: string | boolean | undefined): unknown => {
  if (typed === undefined || typed === '') return undefined
  if (typeof typed === 'boolean') return typed
  if (setting.enum) return setting.enum.find((one) => String(one) === typed) ?? typed
  if (setting.type === 'number' || setting.type === 'integer')
    return Number.isNaN(Number(typed)) ? typed : Number(typed)
  return typed
}

const inputType = ({ type, format, writeOnly }: Setting): 'password' | 'number' | 'email' | 'url' | 'text' => {
  if (writeOnly) return 'password'
  if (type === 'number' || type === 'integer') return 'number'
  return format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text'
}

/** A form generated from the agent's `config`, a JSON Schema for an object of scalars. */
export const SettingsForm = ({
  id,
  schema,
  values,
  readOnly,
}: {
  id: string
  schema: { properties?: Record<string, Setting>; required?: string[]; description?: string }
  values: Values
  readOnly: boolean
}) => {
  const settings = Object.entries(schema.properties ?? {})
  const [typed, setTyped] = useState<Typed>(() =>
    Object.fromEntries(
      settings.map(([name, setting]) => {
        const value = values[name]
        if (setting.type === 'boolean' && !setting.enum) return [name, Boolean(value)]
        return [name, value === undefined || value === null || isSecretSet(value) ? '' : String(value)]
      }),
    ),
  )
  if (settings.length === 0) return <p class="soft">{t('This agent has no settings.')}</p>
  const put = (name: string, value: string | boolean): void => setTyped((before) => ({ ...before, [name]: value }))
  const send = async (): Promise<void> => {
    const given = settings.flatMap(([name, setting]) => {
      const value = settingValue(setting, typed[name])
      return value === undefined || setting.readOnly ? [] : [[name, value]]
    })
    await unwrap(
      api.PUT('/console/installations/{id}/settings', {
        params: { path: { id } },
        body: { values: Object.fromEntries(given) },
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
        return settings.map(([name, setting]) => {
          const required = schema.required?.includes(name) ?? false
          const secretSet = isSecretSet(values[name])
          const label = (
            <>
              {sanitize(setting.title ?? humanize(name))}
              {required && <span class="soft"> {t('(required)')}</span>}
            </>
          )
          const hint = [
            setting.description && sanitize(setting.description),
            secretSet && t('Already set. Leave this empty to keep the current value.'),
            setting.default !== undefined && `Default: ${sanitize(String(setting.default))}`,
          ]
            .filter(Boolean)
            .join(' ')
          const problem = problems[name] ?? problems[`values.${name}`]
          const value = typed[name]
          if (setting.type === 'boolean' && !setting.enum) {
            return (
              <label class="tick" key={name}>
                <input
                  type="checkbox"
                  checked={Boolean(value)}
                  disabled={readOnly}
                  onChange={(event) => put(name, event.currentTarget.checked)}
                />
                <span>
                  <b>{label}</b>
                  {hint && <span class="hint"> {hint}</span>}
                  {problem && <span class="wrong"> {problem}</span>}
                </span>
              </label>
            )
          }
          return (
            <Field key={name} label={label} hint={hint} problem={problem}>
              {(field) =>
                setting.enum ? (
                  <select
                    {...field}
                    value={String(value)}
                    disabled={readOnly}
                    onChange={(event) => put(name, event.currentTarget.value)}
                  >
                    {!required && <option value="">–</option>}
                    {required && !value && <option value="">{t('Choose…')}</option>}
                    {setting.enum.map((one) => (
                      <option key={String(one)} value={String(one)}>
                        {sanitize(String(one))}
                      </option>
                    ))}
                  </select>
                ) : (
                  <input
                    {...field}
                    type={inputType(setting) as 'text'}
                    value={String(value ?? '')}
                    disabled={readOnly || setting.readOnly}
                    required={required && !secretSet && setting.default === undefined}
                    autocomplete={setting.writeOnly ? 'new-password' : 'off'}
                    placeholder={secretSet ? '••••••••' : ''}
                    step={setting.type === 'number' ? 'any' : undefined}
                    {...(setting.minLength !== undefined && { minLength: setting.minLength })}
                    {...(setting.maxLength !== undefined && { maxLength: setting.maxLength })}
                    {...(setting.minimum !== undefined && { min: setting.minimum })}
                    {...(setting.maximum !== undefined && { max: setting.maximum })}
                    onInput={(event) => put(name, event.currentTarget.value)}
                  />
                )
              }
            </Field>
          )
        })
      }}
    </Form>
  )
}
