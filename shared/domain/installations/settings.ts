import type { Version } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { byField } from '../../kernel/json-schema/finding.ts'
import { isObject, type JsonObject } from '../../kernel/json-schema/json-object.ts'
import { nearest } from '../../kernel/nearest.ts'
import { seal } from '../../kernel/sealed.ts'
import { missing } from '../../table/expressions.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { defaultSettings, neededSettings, secretSettings, validateSettings } from '../manifests/config.ts'
import { tryAgain } from '../try-again.ts'
import { noInstallation } from './read.ts'
import type { SettingsView } from './settings-schemas.ts'
import { configOf, openSettings, settingsRecord, shapeOf, type Values } from './settings-values.ts'
import { tellInstallation } from './tell.ts'

/** Bytes of all values together, as JSON: the record is read with every request of the app. */
const MOST_BYTES = 65_536

interface Configured {
  installation: Installation
  config: JsonObject | undefined
  /** What is kept, whether it fits or not. */
  stored: Values
}

const load = async (work: Work, workspace_id: string, id: string): Promise<Configured> => {
  const installation = await work.table.get(InstallationEntity, { workspace_id, id })
  if (!installation || installation.status === 'revoked') throw noInstallation()
  const [config, stored] = await Promise.all([configOf(work, installation), openSettings(work, installation)])
  return { installation, config, stored }
}

/**
 * `GET /console/installations/{id}/settings`: the form of the attached version and what is set, defaults filled in.
 * @throws `not_found`
 */
export const readSettings = async (work: Work, workspaceId: string, id: string): Promise<SettingsView> => {
  const { installation, config, stored } = await load(work, workspaceId, id)
  return present(config, fitting(config, stored, installation))
}

/**
 * Of the kept values those that the config describes and allows: after an upgrade it may be another one. What was given as a
 * secret does not fit where it would be none: the developer alone would have decided that everybody may read it.
 */
const fitting = (
  config: JsonObject | undefined,
  stored: Values,
  { settings_secret = [] }: Pick<Installation, 'settings_secret'>,
): Values => {
  const secrets = secretSettings(config)
  const bared = settings_secret.filter((name) => !secrets.includes(name))
  const wrong = new Set(validateSettings(config, stored).map(({ path }) => path.split('/')[1]))
  const described = isObject(config?.properties) ? config.properties : {}
  return Object.fromEntries(
    Object.entries(stored).filter(
      ([name]) => Object.hasOwn(described, name) && !wrong.has(name) && !bared.includes(name),
    ),
  )
}

const present = (config: JsonObject | undefined, set: Values): SettingsView => {
  const secrets = secretSettings(config)
  const missing_settings = (neededSettings(config) ?? []).filter((name) => !Object.hasOwn(set, name))
  return {
    schema: shapeOf(config),
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
 * `PUT /console/installations/{id}/settings`: what is given is what is set from then on. A secret that is not given, or
 * given as it is shown, stays; null takes a value away, and with it goes back to its default.
 * @throws `not_found`; `invalid_config` naming every field; `payload_too_large`
 */
export const writeSettings = (
  work: Work,
  by: { workspaceId: string; userId: string },
  id: string,
  given: Values,
): Promise<SettingsView> =>
  tryAgain(async () => {
    const { installation, config, stored } = await load(work, by.workspaceId, id)
    const before = fitting(config, stored, installation)
    const next = merged(config, before, given)
    refuseMisfits(config, next, given)
    const view = present(config, next)
    const json = JSON.stringify(next)
    const bytes = Buffer.byteLength(json)
    if (bytes > MOST_BYTES) {
      throw fail('payload_too_large', { message: `The settings have ${bytes} bytes together; at most ${MOST_BYTES}.` })
    }
    // What does not fit any more goes, too.
    const keys = changedKeys(stored, next)
    if (keys.length === 0) return view
    const set = {
      settings: await seal(await work.keys.data(), settingsRecord(id), json),
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
        tellInstallation(work, 'installation.updated', installation),
      ],
      view,
    )
    return view
  })

const merged = (config: JsonObject | undefined, before: Values, given: Values): Values => {
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

/** A secret as GET shows it. */
const isShown = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length === 1 && typeof value.set === 'boolean'

/** As many as the validator tells of. */
const MOST_TOLD = 100

const refuseMisfits = (config: JsonObject | undefined, next: Values, given: Values): void => {
  const names = Object.keys(isObject(config?.properties) ? config.properties : {})
  // Also to be told of: null for a setting that there is not.
  const unknown = Object.keys(given)
    .filter((name) => given[name] === null && !names.includes(name))
    .slice(0, MOST_TOLD)
  const found = [
    ...validateSettings(config, { ...defaultSettings(config), ...next }),
    ...unknown.map((name) => ({ path: `/${name}`, message: 'is not expected here' })),
  ]
  if (found.length > 0) throw misfit(found, names)
}

const misfit = (found: readonly { path: string; message: string }[], names: readonly string[]): PlatformError => {
  const fields = byField(found)
  const errors = Object.entries(fields).map(([field, messages]) => ({
    field,
    message: messages.map((message) => `${field} ${message}`).join('; '),
    fix: fixOf(field, messages, names),
  }))
  return fail('invalid_config', {
    message: errors.length === 1 ? `${errors[0]?.message}.` : `${errors.length} settings do not fit.`,
    details: { fields, errors },
  })
}

const fixOf = (field: string, messages: readonly string[], names: readonly string[]): string => {
  if (messages.includes('is required')) return `Give ${field} a value.`
  if (names.includes(field)) return `Correct ${field}, or leave it out.`
  const meant = nearest(field, [...names])
  if (meant !== undefined) return `Did you mean ${meant}?`
  return names.length === 0 ? 'This version has no settings: give none.' : `The settings are ${names.join(', ')}.`
}

const changedKeys = (before: Values, after: Values): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .sort()

/** What an installation's settings come to under another version: the names of those that fit, for its record. */
export const settingsUnder = async (
  work: Work,
  installation: Installation,
  version: Pick<Version, 'manifest'>,
): Promise<string[] | undefined> => {
  if (installation.settings === undefined) return undefined
  const [config, stored] = await Promise.all([configOf(work, version), openSettings(work, installation)])
  return Object.keys(fitting(config, stored, installation)).sort()
}
