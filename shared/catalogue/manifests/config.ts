import type { Check } from '#shared/kernel/json-schema/check-keyword.ts'
import { checkSchema } from '#shared/kernel/json-schema/check-schema.ts'
import { type Mismatch, validateAgainst } from '#shared/kernel/json-schema/evaluate.ts'
import { appendPointer, quoteName } from '#shared/kernel/json-schema/finding.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { checkTitle } from './title.ts'

/** Types that a setting may have, each of which a form can show as one field. */
export const SETTING_TYPES = ['string', 'number', 'integer', 'boolean'] as const

/** Keywords of the whole section. Other JSON Schema keywords make no sense in a form. */
export const CONFIG_KEYWORDS = [
  '$schema',
  '$comment',
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
] as const

/** Keywords of one setting. */
export const SETTING_KEYWORDS = [
  '$comment',
  'type',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'enum',
  'const',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
] as const

const MAX_SETTINGS = 50
const SETTING_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/
const EXAMPLE = '{"type": "object", "properties": {"api_key": {"type": "string", "writeOnly": true}}}'

const onlyKeywords = (check: Check, schema: JsonObject, allowed: readonly string[], path: string): void => {
  for (const keyword of Object.keys(schema))
    if (!allowed.includes(keyword) && !keyword.startsWith('x-'))
      check.errors.add(
        appendPointer(path, keyword),
        `${quoteName(keyword)} can’t be used here because settings are a flat form.`,
        `Use only ${allowed.join(', ')}.`,
      )
}

/** Removes the keywords that {@link onlyKeywords} has reported, so that each is reported once. */
const pickKeywords = <T>(schema: T, allowed: readonly string[]): T | JsonObject =>
  isObject(schema)
    ? Object.fromEntries(Object.entries(schema).filter(([keyword]) => allowed.includes(keyword)))
    : schema

const checkSetting = (check: Check, name: string, setting: unknown, path: string): void => {
  if (!SETTING_NAME.test(name))
    check.errors.add(
      path,
      `${quoteName(name)} is not a valid name for a setting.`,
      'Use a letter or _, then up to 63 letters, digits, _, . or -.',
    )
  if (!isObject(setting)) {
    check.errors.add(path, 'A setting must be an object.', 'Use {"type": "string"}, or another scalar type.')
    return
  }
  if (!(SETTING_TYPES as readonly unknown[]).includes(setting.type))
    check.errors.add(
      appendPointer(path, 'type'),
      'A setting must have one scalar type.',
      `Use one of ${SETTING_TYPES.join(', ')}.`,
    )
  onlyKeywords(check, setting, SETTING_KEYWORDS, path)
  checkTitle(check, setting, path)
  if (setting.writeOnly === true && setting.default !== undefined)
    check.errors.add(
      appendPointer(path, 'default'),
      'A secret can’t have a default because manifests are public.',
      'Remove default.',
    )
  for (const keyword of ['const', 'enum'])
    if (setting.writeOnly === true && setting[keyword] !== undefined)
      check.errors.add(
        appendPointer(path, keyword),
        `A secret can’t have ${keyword} because manifests are public and it would reveal the secret.`,
        `Remove ${keyword}, or writeOnly.`,
      )
}

/** Checks defaults and examples against their own setting. Otherwise only customers would notice such a mistake. */
const checkValues = (check: Check, setting: JsonObject, path: string): void => {
  for (const { message } of setting.default === undefined ? [] : validateAgainst(setting, setting.default))
    check.errors.add(appendPointer(path, 'default'), `The default ${message}.`, 'Correct the default or the setting.')
  const examples = Array.isArray(setting.examples) ? setting.examples.slice(0, 5) : []
  for (const [index, example] of examples.entries())
    for (const { message } of validateAgainst(setting, example))
      check.warnings.add(
        appendPointer(appendPointer(path, 'examples'), index),
        `The example ${message}.`,
        'Correct the example.',
      )
}

/** Checks a manifest's `config`, a JSON Schema of an object of scalars (contract/apps-and-manifests.md#manifest-config). */
export const checkConfig = (check: Check, config: JsonObject, path: string): void => {
  if (config.type !== 'object')
    check.errors.add(
      appendPointer(path, 'type'),
      'config must have the type "object".',
      `Use a schema such as ${EXAMPLE}.`,
    )
  onlyKeywords(check, config, CONFIG_KEYWORDS, path)
  if (config.additionalProperties !== undefined && config.additionalProperties !== false)
    check.errors.add(
      appendPointer(path, 'additionalProperties'),
      'additionalProperties must be false, because undescribed settings are never accepted.',
      'Use false, or remove it.',
    )
  const settings = isObject(config.properties) ? Object.entries(config.properties).slice(0, MAX_SETTINGS + 1) : []
  if (settings.length > MAX_SETTINGS)
    check.errors.add(
      appendPointer(path, 'properties'),
      `The manifest has more than ${MAX_SETTINGS} settings.`,
      'Remove settings.',
    )
  for (const [name, setting] of settings)
    checkSetting(check, name, setting, appendPointer(appendPointer(path, 'properties'), name))
  // Undescribed settings are rejected, so no one could provide a setting that is required but not described.
  const properties = Object.fromEntries(
    settings.map(([name, setting]) => [name, pickKeywords(setting, SETTING_KEYWORDS)]),
  )
  const section = isObject(config.properties) ? { ...config, properties } : config
  checkSchema(check, { ...pickKeywords(section, CONFIG_KEYWORDS), additionalProperties: false }, path)
  for (const [name, setting] of settings) {
    const at = appendPointer(appendPointer(path, 'properties'), name)
    const hasErrors = check.errors.list.some((error) => error.path === at || error.path.startsWith(`${at}/`))
    if (isObject(setting) && !hasErrors) checkValues(check, setting, at)
  }
}

/**
 * Returns every mismatch between an installation's settings and the manifest's `config`. An undescribed setting is a
 * mismatch. `path` is a JSON Pointer into the values.
 */
export const validateSettings = (config: JsonObject | undefined, values: unknown): Mismatch[] =>
  validateAgainst({ type: 'object', ...config, additionalProperties: false }, values)

/** Returns the names of the secret settings, which are encrypted at rest and never shown again. */
export const secretSettings = (config: JsonObject | undefined): string[] =>
  Object.entries(isObject(config?.properties) ? config.properties : {})
    .filter(([, setting]) => isObject(setting) && setting.writeOnly === true)
    .map(([name]) => name)

/** Returns the settings' declared defaults, for installations that have not set them. */
export const defaultSettings = (config: JsonObject | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(isObject(config?.properties) ? config.properties : {}).flatMap(([name, setting]) =>
      isObject(setting) && setting.default !== undefined ? [[name, setting.default]] : [],
    ),
  )

/** Returns the required settings without a default, or undefined if there are none. */
export const requiredSettings = (config: JsonObject | undefined): string[] | undefined => {
  const defaults = defaultSettings(config)
  const required = Array.isArray(config?.required) ? config.required.map(String) : []
  const needed = required.filter((name) => !Object.hasOwn(defaults, name))
  return needed.length === 0 ? undefined : needed
}
