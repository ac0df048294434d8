import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Manifest } from '../manifests/schema.ts'
import { type Version, VersionEntity } from './entity.ts'

/**
 * Stores a manifest in the version's record up to 16 KiB, and in the bucket above that. Doesn't use `payloads/`, whose
 * objects expire with the runs' retention, because versions are kept forever.
 */
export const storeManifest = async (
  { objects }: Pick<Deps, 'objects'>,
  version: Pick<Version, 'id' | 'app_id'>,
  manifest: unknown,
): Promise<Version['manifest']> => {
  const json = JSON.stringify(manifest)
  const bytes = Buffer.byteLength(json)
  if (bytes <= LIMITS.inlinePayloadBytes) return { json }
  const object = `manifests/${version.app_id}/${version.id}`
  await objects.put(object, Buffer.from(json), 'application/json')
  return { object, bytes }
}

/** Loads a manifest that {@link storeManifest} stored. It was valid when it was published. */
export const loadManifest = async (
  deps: Pick<Deps, 'objects'>,
  version: Pick<Version, 'manifest'>,
): Promise<Manifest> => (await loadPayload(deps, version.manifest)) as Manifest

/** Most manifests that a function keeps in memory. */
const MOST_KEPT = 500

/** Manifests by version, the longest unused first. A version's manifest never changes. */
const kept = new Map<string, Manifest>()

const keep = (id: string, manifest: Manifest): void => {
  kept.delete(id)
  kept.set(id, manifest)
  const [oldest] = kept.keys()
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
}

/** Loads manifests by version, from memory those that this function loaded before. Undefined for a version that doesn't exist. */
export const loadManifests = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  keys: readonly Pick<Version, 'id' | 'app_id'>[],
): Promise<(Manifest | undefined)[]> => {
  const found = new Map(keys.map(({ id }) => [id, kept.get(id)]))
  const versions = await deps.table.getAll(keys.filter(({ id }) => !found.get(id)).map((key) => VersionEntity.ref(key)))
  await Promise.all(
    versions.map(async (version) => version && found.set(version.id, await loadManifest(deps, version))),
  )
  for (const [id, manifest] of found) if (manifest) keep(id, manifest)
  return keys.map(({ id }) => found.get(id))
}
