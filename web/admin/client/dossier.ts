import type { Schemas } from './api.ts'

/** A version, whose manifest is any JSON here: it is compared and shown as it is. */
export type Version = Omit<Schemas['ModeratedVersion'], 'manifest'> & { manifest: unknown }

/** What is known of an app. */
export type Dossier = Omit<Schemas['AppDossier'], 'versions'> & { versions: Version[] }
