import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Manifest } from '../manifests/schema.ts'
import type { Version } from './entity.ts'

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
