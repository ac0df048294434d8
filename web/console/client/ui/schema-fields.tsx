import { sanitize } from '../../../session/text.ts'
import { Field } from '../../../ui/form.tsx'
import { humanize } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'

/** JSON Schema of one field. Agents' settings and questions have scalars only. */
export interface FieldSchema {
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

export interface ObjectSchema {
  properties?: Record<string, FieldSchema>
  required?: string[]
}

/** Entered values, by field. Numbers and choices are text. */
export type Typed = Record<string, string | boolean | undefined>

const isTick = ({ type, enum: choices }: FieldSchema): boolean => type === 'boolean' && !choices

const isNumber = ({ type }: FieldSchema): boolean => type === 'number' || type === 'integer'

/** Returns a field's value as its control shows it. */
export const typedFrom = (schema: FieldSchema, value: unknown): string | boolean =>
  isTick(schema) ? value === true : String(value ?? '')

const fieldValue = (schema: FieldSchema, typed: string | boolean | undefined): unknown => {
  if (typed === undefined || typed === '') return undefined
  if (typeof typed === 'boolean') return typed
  if (schema.enum) return schema.enum.find((one) => String(one) === typed) ?? typed
  return isNumber(schema) && !Number.isNaN(Number(typed)) ? Number(typed) : typed
}

/** Converts what the user entered to an object. Empty and read-only fields are left out. */
export const objectFrom = ({ properties = {} }: ObjectSchema, typed: Typed): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      const value = fieldValue(schema, typed[name])
      return value === undefined || schema.readOnly ? [] : [[name, value]]
    }),
  )

const INPUT_TYPES: Record<string, string> = { email: 'email', uri: 'url', date: 'date' }

const inputType = (schema: FieldSchema): string => {
  if (schema.writeOnly) return 'password'
  return isNumber(schema) ? 'number' : (INPUT_TYPES[schema.format ?? ''] ?? 'text')
}

/** Controls for the fields of a JSON Schema. */
export const SchemaFields = ({
  schema: { properties = {}, required = [] },
  typed,
  onTyped,
  problemOf,
  hintOf = () => undefined,
  isSet = () => false,
  defaultsApply = false,
  readOnly = false,
}: {
  schema: ObjectSchema
  typed: Typed
  onTyped(name: string, value: string | boolean): void
  problemOf(name: string): string | undefined
  /** Hint after the field's description. */
  hintOf?(name: string, schema: FieldSchema): string | undefined
  /** True for a secret that has a value, which isn't shown. */
  isSet?(name: string): boolean
  /** A field left empty gets its default. Otherwise, defaults only fill in the form. */
  defaultsApply?: boolean
  readOnly?: boolean
}) =>
  Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name)
    const mayBeEmpty = !isRequired || isSet(name) || (defaultsApply && schema.default !== undefined)
    const value = typed[name]
    const problem = problemOf(name)
    const hint = [schema.description && sanitize(schema.description), hintOf(name, schema)].filter(Boolean).join(' ')
    const label = (
      <>
        {sanitize(schema.title ?? humanize(name))}
        {isRequired && <span class="soft"> {t('(required)')}</span>}
      </>
    )
    if (isTick(schema)) {
      return (
        <label class="tick" key={name}>
          <input
            type="checkbox"
            checked={Boolean(value)}
            disabled={readOnly}
            onChange={(event) => onTyped(name, event.currentTarget.checked)}
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
        {(attributes) =>
          schema.enum ? (
            <select
              {...attributes}
              value={String(value ?? '')}
              disabled={readOnly}
              required={!mayBeEmpty}
              onChange={(event) => onTyped(name, event.currentTarget.value)}
            >
              {!(isRequired && value) && <option value="">{isRequired ? t('Choose…') : '–'}</option>}
              {schema.enum.map((one) => (
                <option key={String(one)} value={String(one)}>
                  {sanitize(String(one))}
                </option>
              ))}
            </select>
          ) : (
            <input
              {...attributes}
              type={inputType(schema) as 'text'}
              value={String(value ?? '')}
              disabled={readOnly || schema.readOnly}
              required={!mayBeEmpty}
              autocomplete={schema.writeOnly ? 'new-password' : 'off'}
              placeholder={isSet(name) ? '••••••••' : ''}
              step={schema.type === 'number' ? 'any' : undefined}
              {...(schema.minLength !== undefined && { minLength: schema.minLength })}
              {...(schema.maxLength !== undefined && { maxLength: schema.maxLength })}
              {...(schema.minimum !== undefined && { min: schema.minimum })}
              {...(schema.maximum !== undefined && { max: schema.maximum })}
              onInput={(event) => onTyped(name, event.currentTarget.value)}
            />
          )
        }
      </Field>
    )
  })
