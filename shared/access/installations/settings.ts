import {
  defaultSettings,
  requiredSettings,
  secretSettings,
  validateSettings,
} from '#shared/catalogue/manifests/index.ts'
import type { Version } from '#shared/catalogue/versions/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { seal } from '#shared/kernel/encryption.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { byField } from '#shared/kernel/json-schema/finding.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { nearest } from '#shared/kernel/nearest.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { emitInstallationEvent } from './emit.ts'
import { type Installation, InstallationEntity } from './entity.ts'
import { installationNotFound } from './read.ts'
import type { SettingsView } from './settings-schemas.ts'
import { loadConfig, loadSettings, settingsFormSchema, settingsRecord, type Values } from './settings-values.ts'

/** Most bytes of all values together, as JSON, because every request of the app reads the record. */
const MOST_BYTES = 65_536

interface Configured {
  installation: Installation
  config: JsonObject | undefined
  /** All stored values, including those that aren't valid for this version. */
  stored: Values
}

const load = async (work: Work, workspace_id: string, id: string): Promise<Configured> => {
  const installation = await work.table.get(InstallationEntity, { workspace_id, id })
  if (!installation || installation.status === 'revoked') throw installationNotFound()
  const [config, stored] = await Promise.all([loadConfig(work, installation), loadSettings(work, installation)])
  return { installation, config, stored }
}

/**
 * Handles `GET /console/installations/{id}/settings`: returns the form of the attached version and the values, with
 * defaults filled in.
 * @throws `not_found`
 */
export const readSettings = async (work: Work, workspaceId: string, id: string): Promise<SettingsView> => {
  const { installation, config, stored } = await load(work, workspaceId, id)
  return present(config, validValues(config, stored, installation))
}

/**
 * Returns the stored values that the config describes and allows; an upgrade may have changed it. A value given as a
 * secret is left out if its setting is no longer secret. Otherwise the developer alone could expose it to everyone.
 */
const validValues = (
  config: JsonObject | undefined,
  stored: Values,
  { settings_secret = [] }: Pick<Installation, 'settings_secret'>,
): Values => {
  const secrets = secretSettings(config)
  const exposed = settings_secret.filter((name) => !secrets.includes(name))
  const invalid = new Set(validateSettings(config, stored).map(({ path }) => path.split('/')[1]))
  const described = isObject(config?.properties) ? config.properties : {}
  return Object.fromEntries(
    Object.entries(stored).filter(
      ([name]) => Object.hasOwn(described, name) && !invalid.has(name) && !exposed.includes(name),
    ),
  )
}

const present = (config: JsonObject | undefined, set: Values): SettingsView => {
  const secrets = secretSettings(config)
  const missing_settings = (requiredSettings(config) ?? []).filter((name) => !Object.hasOwn(set, name))
  return {
    schema: settingsFormSchema(config),
    values: Object.fromEntries(
      Object.entries({ ...defaultSettings(config), ...set }).map(([name, value]) => [
        name,
        secrets.includes(name) ? { set: true } : value,
      ]),
    ) as SettingsView['values'],
    settings_complete: missing_settings.length === 0,
    missing_settings,
  }
}

/**
 * Handles `PUT /console/installations/{id}/settings`: replaces all values. A secret that is omitted, or given as it is
 * shown, stays. Null removes a value, which returns the setting to its default.
 * @throws `not_found`; `invalid_config` naming every invalid field; `payload_too_large`
 */
export const writeSettings = (
  work: Work,
  by: { workspaceId: string; userId: string },
  id: string,
  given: Values,
): Promise<SettingsView> =>
  retryOnConflict(async () => {
    const { installation, config, stored } = await load(work, by.workspaceId, id)
    const before = validValues(config, stored, installation)
    const next = mergedValues(config, before, given)
    refuseInvalid(config, next, given)
    const view = present(config, next)
    const json = JSON.stringify(next)
    const bytes = Buffer.byteLength(json)
    if (bytes > MOST_BYTES) {
      throw fail('payload_too_large', {
        message: `The settings have ${bytes} bytes in total; the maximum is ${MOST_BYTES}.`,
      })
    }
    // Values that are no longer valid are removed too.
    const keys = changedKeys(stored, next)
    if (keys.length === 0) return view
    const set = {
      settings: await seal(work.keys.ofWorkspace(installation.workspace_id), settingsRecord(id), json),
      settings_set: Object.keys(next).sort(),
      settings_secret: secretSettings(config).filter((name) => Object.hasOwn(next, name)),
      updated_at: work.clock.now(),
    }
    const { status, version_id, settings } = installation
    await work.commit(
      [
        InstallationEntity.update(
          installation,
          { set },
          { where: { status, version_id, settings: settings ?? missing } },
        ),
        auditPerson(work, by, 'installation.settings_changed', { type: 'installation', id }, { keys }),
        emitInstallationEvent(work, 'installation.updated', installation),
      ],
      view,
    )
    return view
  })

const mergedValues = (config: JsonObject | undefined, before: Values, given: Values): Values => {
  const kept = secretSettings(config).filter((name) => {
    const asShown = Object.hasOwn(given, name) ? isShown(given[name]) : true
    return asShown && Object.hasOwn(before, name)
  })
  return Object.fromEntries([
    ...kept.map((name) => [name, before[name]] as const),
    ...Object.entries(given).filter(
      ([name, value]) => value !== null && !(isShown(value) && secretSettings(config).includes(name)),
    ),
  ])
}

/** Reports whether this is a secret as GET shows it. */
const isShown = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length === 1 && typeof value.set === 'boolean'

/** Most unknown settings reported, the same limit as the validator's. */
const MOST_REPORTED = 100

const refuseInvalid = (config: JsonObject | undefined, next: Values, given: Values): void => {
  const names = Object.keys(isObject(config?.properties) ? config.properties : {})
  // The validator doesn't see a null for an unknown setting.
  const unknown = Object.keys(given)
    .filter((name) => given[name] === null && !names.includes(name))
    .slice(0, MOST_REPORTED)
  const found = [
    ...validateSettings(config, { ...defaultSettings(config), ...next }),
    ...unknown.map((name) => ({ path: `/${name}`, message: 'is not expected here' })),
  ]
  if (found.length > 0) throw invalidSettings(found, names)
}

const invalidSettings = (
  found: readonly { path: string; message: string }[],
  names: readonly string[],
): PlatformError => {
  const fields = byField(found)
  const errors = Object.entries(fields).map(([field, messages]) => ({
    field,
    message: messages.map((message) => `${field} ${message}`).join('; '),
    fix: fixOf(field, messages, names),
  }))
  return fail('invalid_config', {
    message: errors.length === 1 ? `${errors[0]?.message}.` : `${errors.length} settings are invalid.`,
    details: { fields, errors },
  })
}

const fixOf = (field: string, messages: readonly string[], names: readonly string[]): string => {
  if (messages.includes('is required')) return `Give ${field} a value.`
  if (names.includes(field)) return `Correct ${field} or omit it.`
  const suggestion = nearest(field, [...names])
  if (suggestion !== undefined) return `Did you mean ${suggestion}?`
  return names.length === 0 ? 'Send no settings: this version has none.' : `Use one of ${names.join(', ')}.`
}

const changedKeys = (before: Values, after: Values): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .sort()

/** Returns the names of an installation's settings that are valid under another version, for its record. */
export const listValidSettings = async (
  work: Work,
  installation: Installation,
  version: Pick<Version, 'manifest'>,
): Promise<string[] | undefined> => {
  if (installation.settings === undefined) return undefined
  const [config, stored] = await Promise.all([loadConfig(work, version), loadSettings(work, installation)])
  return Object.keys(validValues(config, stored, installation)).sort()
}
