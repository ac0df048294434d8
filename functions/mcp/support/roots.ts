import type { ClientMethod } from './client-method.ts'

/**
 * The client's folders. Deprecated since 2026-07-28. To end it, delete this file, its line in `capabilities.ts`, and the names
 * in the schemas of manifests and questions.
 */
export const ROOTS: ClientMethod = {
  method: 'roots/list',
  capability: 'roots',
  needs: () => ({}),
  takes: () => true,
}
