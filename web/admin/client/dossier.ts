import type { Schemas } from './api.ts'

/** A version whose manifest is any JSON. It is only compared and shown. */
export type Version = Omit<Schemas['ModeratedVersion'], 'manifest'> & { manifest: unknown }

/** Moderation data of an app. */
export type Dossier = Omit<Schemas['AppDossier'], 'versions'> & { versions: Version[] }
