import type { Version } from '../../entities/apps.ts'
import { VersionEntity } from '../../entities/apps.ts'
import type { Installation } from '../../entities/installations.ts'
import { isObject, type JsonObject } from '../../kernel/json-schema/json-object.ts'
import { unseal } from '../../kernel/sealed.ts'
import type { Deps } from '../deps.ts'
import { defaultSettings } from '../manifests/config.ts'
import { loadManifest } from '../versions/manifest.ts'

/** Settings by their names. */
export type Values = Record<string, unknown>

/** The record name that an installation's settings are sealed for. */
export const settingsRecord = (installationId: string): string => `settings:${installationId}`

/** What is kept of an installation's settings, secrets among it. */
export const openSettings = async (
  { keys }: Pick<Deps, 'keys'>,
  { id, settings }: Pick<Installation, 'id' | 'settings'>,
): Promise<Values> =>
  settings === undefined ? {} : JSON.parse(await unseal(await keys.data(), settingsRecord(id), settings))

/** The `config` of a version, or of the one that an installation is bound to; undefined where it has none. */
export const configOf = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  of: Pick<Version, 'manifest'> | Pick<Installation, 'app_id' | 'version_id'>,
): Promise<JsonObject | undefined> => {
  const version = 'manifest' in of ? of : await deps.table.get(VersionEntity, { app_id: of.app_id, id: of.version_id })
  return version && (await loadManifest(deps, version)).config
}

/** A form's schema, also where there is nothing to fill in. */
export const shapeOf = (config: JsonObject | undefined): JsonObject => config ?? { type: 'object', properties: {} }

/**
 * What the agent gets (specification "run.execute"): the values that fit its version, over the defaults. What fits was
 * checked when the settings were written and when the version was attached.
 */
export const settingsForAgent = async (
  deps: Pick<Deps, 'keys' | 'objects'>,
  installation: Pick<Installation, 'id' | 'settings' | 'settings_set'>,
  version: Pick<Version, 'manifest'>,
): Promise<Values> => {
  const [{ config }, stored] = await Promise.all([loadManifest(deps, version), openSettings(deps, installation)])
  const described = isObject(config?.properties) ? config.properties : {}
  const fits = ([name]: [string, unknown]): boolean =>
    Object.hasOwn(described, name) && (installation.settings_set ?? [name]).includes(name)
  return { ...defaultSettings(config), ...Object.fromEntries(Object.entries(stored).filter(fits)) }
}
