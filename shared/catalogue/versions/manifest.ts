import { loadPayload } from '#shared/foundation/payloads/index.ts'
import { type Deps, type Work, type WorkerWork, withoutAnswer } from '#shared/foundation/work/index.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import type { Manifest } from '../manifests/schema.ts'
import { LooseManifestEntity, type Version, VersionEntity } from './entity.ts'

/**
 * Stores a manifest in the version's record up to 16 KiB, and in the bucket above that. Doesn't use `payloads/`, whose
 * objects expire with the runs' retention, because versions are kept forever. The writes attach the object to the version. If they
 * are never committed, the sweeper removes it.
 */
export const storeManifest = async (
  work: Work,
  version: Pick<Version, 'id' | 'app_id'>,
  manifest: unknown,
): Promise<{ stored: Version['manifest']; writes: Write[] }> => {
  const json = JSON.stringify(manifest)
  const bytes = Buffer.byteLength(json)
  if (bytes <= LIMITS.inlinePayloadBytes) return { stored: { json }, writes: [] }
  const object = objectOf(version.app_id, version.id)
  // Until no request under the same Idempotency-Key can publish the version any more.
  const due_at = work.clock.now() + LIMITS.idempotencyLife + HOUR
  const mark = { app_id: version.app_id, version_id: version.id, due_at }
  // An earlier attempt under this key may have written it.
  await ifUnchanged(withoutAnswer(work).commit([LooseManifestEntity.create(mark)]))
  await work.objects.put(object, Buffer.from(json), 'application/json')
  const owned = LooseManifestEntity.delete(mark, { where: { version_id: exists } })
  return { stored: { object, bytes }, writes: [owned] }
}

const objectOf = (app_id: string, id: string): string => `manifests/${app_id}/${id}`

/** Removes an overdue manifest without a version, for the sweeper. */
export const handleOverdueManifest = async (work: WorkerWork, key: Key): Promise<void> => {
  const loose = await work.table.getByKey(LooseManifestEntity, key)
  if (!loose || loose.due_at > work.clock.now()) return
  await work.objects.delete(objectOf(loose.app_id, loose.version_id))
  await work.commit([LooseManifestEntity.delete(loose)])
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
