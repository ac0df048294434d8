import { manifestJsonSchema } from './json-schema-document.ts'

/** Placeholder for the platform's address until the document is served. */
export const BASE_PLACEHOLDER = 'https://platform.invalid'

/** JSON Schema of the manifest. Plain data, computed when the bundles are built, so they don't contain the generator. */
export const MANIFEST_DOCUMENT = manifestJsonSchema(BASE_PLACEHOLDER)
