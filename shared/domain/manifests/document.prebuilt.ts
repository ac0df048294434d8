import { manifestJsonSchema } from './json-schema-document.ts'

/** Stands for the platform's address until the document is served. */
export const BASE_PLACEHOLDER = 'https://platform.invalid'

/** The manifest's JSON Schema. Plain data, computed when the bundles are built: the generator stays out of them. */
export const MANIFEST_DOCUMENT = manifestJsonSchema(BASE_PLACEHOLDER)
