import { defaultSettings } from '#shared/catalogue/manifests/index.ts'
import { loadManifest, type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { unseal } from '#shared/kernel/encryption.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import type { Installation } from './entity.ts'

/** Settings by name. */
export type Values = Record<string, unknown>

/** Record name that an installation's settings are sealed for. */
export const settingsRecord = (installationId: string): string => `settings:${installationId}`

/** Decrypts an installation's stored settings, including secrets. */
export const loadSettings = async (
  { keys }: Pick<Deps, 'keys'>,
  { id, workspace_id, settings }: Pick<Installation, 'id' | 'workspace_id' | 'settings'>,
): Promise<Values> =>
  settings === undefined ? {} : JSON.parse(await unseal(keys.ofWorkspace(workspace_id), settingsRecord(id), settings))

/** Loads the `config` of a version, or of an installation's version; undefined if it has none. */
export const loadConfig = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  of: Pick<Version, 'manifest'> | Pick<Installation, 'app_id' | 'version_id'>,
): Promise<JsonObject | undefined> => {
  const version = 'manifest' in of ? of : await deps.table.get(VersionEntity, { app_id: of.app_id, id: of.version_id })
  return version && (await loadManifest(deps, version)).config
}

/** Returns the form's schema, which is empty if there is nothing to fill in. */
export const settingsFormSchema = (config: JsonObject | undefined): JsonObject =>
  config ?? { type: 'object', properties: {} }

/**
 * Loads the settings for the agent: the values that are valid for its version, over the defaults
 * (contract/installations.md#settings). Validity was checked when the settings were written and the version attached.
 */
export const loadSettingsForAgent = async (
  deps: Pick<Deps, 'keys' | 'objects'>,
  installation: Pick<Installation, 'id' | 'workspace_id' | 'settings' | 'settings_set'>,
  version: Pick<Version, 'manifest'>,
): Promise<Values> => {
  const [{ config }, stored] = await Promise.all([loadManifest(deps, version), loadSettings(deps, installation)])
  const described = isObject(config?.properties) ? config.properties : {}
  const fits = ([name]: [string, unknown]): boolean =>
    Object.hasOwn(described, name) && (installation.settings_set ?? [name]).includes(name)
  return { ...defaultSettings(config), ...Object.fromEntries(Object.entries(stored).filter(fits)) }
}
