import type { Check } from '../../kernel/json-schema/check-keyword.ts'
import { checkSchema } from '../../kernel/json-schema/check-schema.ts'
import { type Mismatch, validateAgainst } from '../../kernel/json-schema/evaluate.ts'
import { shown, under } from '../../kernel/json-schema/finding.ts'
import { isObject, type JsonObject } from '../../kernel/json-schema/json-object.ts'

/** The types that a setting may have: what a form can show as one field. */
export const SETTING_TYPES = ['string', 'number', 'integer', 'boolean'] as const

/** Keywords of the whole section, and of one setting; all others of JSON Schema make no sense in a form. */
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
        under(path, keyword),
        `${shown(keyword)} cannot be used here: settings are a flat form.`,
        `Use only ${allowed.join(', ')}.`,
      )
}

/** Without the keywords that {@link onlyKeywords} has told of, so that each is told of once. */
const sifted = <T>(schema: T, allowed: readonly string[]): T | JsonObject =>
  isObject(schema)
    ? Object.fromEntries(Object.entries(schema).filter(([keyword]) => allowed.includes(keyword)))
    : schema

const checkSetting = (check: Check, name: string, setting: unknown, path: string): void => {
  if (!SETTING_NAME.test(name))
    check.errors.add(
      path,
      `${shown(name)} is not a good name for a setting.`,
      'Use a letter or _, then up to 63 letters, digits, _, . or -.',
    )
  if (!isObject(setting)) {
    check.errors.add(
      path,
      'A setting must be described by an object.',
      'Give {"type": "string"}, or another scalar type.',
    )
    return
  }
  if (!(SETTING_TYPES as readonly unknown[]).includes(setting.type))
    check.errors.add(
      under(path, 'type'),
      'A setting must have one scalar type.',
      `Use one of ${SETTING_TYPES.join(', ')}.`,
    )
  onlyKeywords(check, setting, SETTING_KEYWORDS, path)
  if (setting.writeOnly === true && setting.default !== undefined)
    check.errors.add(under(path, 'default'), 'A secret cannot have a default: manifests are public.', 'Remove default.')
  for (const keyword of ['const', 'enum'])
    if (setting.writeOnly === true && setting[keyword] !== undefined)
      check.errors.add(
        under(path, keyword),
        `A secret cannot have ${keyword}: manifests are public, and it says what the secret is.`,
        `Remove ${keyword}, or writeOnly.`,
      )
}

/** A default or example that its own setting would refuse is a mistake that only customers would notice. */
const checkValues = (check: Check, setting: JsonObject, path: string): void => {
  for (const { message } of setting.default === undefined ? [] : validateAgainst(setting, setting.default))
    check.errors.add(under(path, 'default'), `The default ${message}.`, 'Correct the default or the setting.')
  const examples = Array.isArray(setting.examples) ? setting.examples.slice(0, 5) : []
  for (const [index, example] of examples.entries())
    for (const { message } of validateAgainst(setting, example))
      check.warnings.add(under(under(path, 'examples'), index), `The example ${message}.`, 'Correct the example.')
}

/** Checks a manifest's `config`: a JSON Schema of an object of scalars (decisions §7). */
export const checkConfig = (check: Check, config: JsonObject, path: string): void => {
  if (config.type !== 'object')
    check.errors.add(under(path, 'type'), 'config must be of type "object".', `Give ${EXAMPLE}.`)
  onlyKeywords(check, config, CONFIG_KEYWORDS, path)
  if (config.additionalProperties !== undefined && config.additionalProperties !== false)
    check.errors.add(
      under(path, 'additionalProperties'),
      'Settings that are not described are never accepted.',
      'Use false, or leave it out.',
    )
  const settings = isObject(config.properties) ? Object.entries(config.properties).slice(0, MAX_SETTINGS + 1) : []
  if (settings.length > MAX_SETTINGS)
    check.errors.add(under(path, 'properties'), `There are more than ${MAX_SETTINGS} settings.`, 'Use fewer.')
  for (const [name, setting] of settings) checkSetting(check, name, setting, under(under(path, 'properties'), name))
  // Undescribed settings are refused, so that a required one without a description could never be given.
  const properties = Object.fromEntries(settings.map(([name, setting]) => [name, sifted(setting, SETTING_KEYWORDS)]))
  const section = isObject(config.properties) ? { ...config, properties } : config
  checkSchema(check, { ...sifted(section, CONFIG_KEYWORDS), additionalProperties: false }, path)
  for (const [name, setting] of settings) {
    const at = under(under(path, 'properties'), name)
    const wrong = check.errors.list.some((error) => error.path === at || error.path.startsWith(`${at}/`))
    if (isObject(setting) && !wrong) checkValues(check, setting, at)
  }
}

/**
 * Every way in which an installation's settings depart from the manifest's `config`; none when they fit. A setting that
 * is not described is a mismatch. `path` is a JSON Pointer into the values.
 */
export const validateSettings = (config: JsonObject | undefined, values: unknown): Mismatch[] =>
  validateAgainst({ type: 'object', ...config, additionalProperties: false }, values)

/** The names of the settings that are secrets: encrypted at rest and never shown again. */
export const secretSettings = (config: JsonObject | undefined): string[] =>
  Object.entries(isObject(config?.properties) ? config.properties : {})
    .filter(([, setting]) => isObject(setting) && setting.writeOnly === true)
    .map(([name]) => name)

/** The settings' declared defaults, for installations that have not set them. */
export const defaultSettings = (config: JsonObject | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(isObject(config?.properties) ? config.properties : {}).flatMap(([name, setting]) =>
      isObject(setting) && setting.default !== undefined ? [[name, setting.default]] : [],
    ),
  )

/** Settings that somebody has to give: required, and without a default. Undefined when there are none. */
export const neededSettings = (config: JsonObject | undefined): string[] | undefined => {
  const defaults = defaultSettings(config)
  const required = Array.isArray(config?.required) ? config.required.map(String) : []
  const needed = required.filter((name) => !Object.hasOwn(defaults, name))
  return needed.length === 0 ? undefined : needed
}
