import type { Version } from '../../entities/apps.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'
import type { Manifest } from '../manifests/schema.ts'
import { loadPayload } from '../payloads.ts'

/**
 * Keeps a manifest: in the version's record up to 16 KiB, above that in the bucket. Not under `payloads/`, whose objects
 * expire with the runs' retention: a version is for ever.
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

/** Reads what {@link storeManifest} kept. It was valid when it was published. */
export const loadManifest = async (
  deps: Pick<Deps, 'objects'>,
  version: Pick<Version, 'manifest'>,
): Promise<Manifest> => (await loadPayload(deps, version.manifest)) as Manifest
