import type { ClientMethod } from './client-method.ts'

const usesTools = (params: object): boolean => 'tools' in params || 'toolChoice' in params

/**
 * A request to the client's model. Deprecated since 2026-07-28. To end it, delete this file, its line in `capabilities.ts`, and
 * the names in the schemas of manifests and questions.
 */
export const SAMPLING: ClientMethod = {
  method: 'sampling/createMessage',
  capability: 'sampling',
  needs: (params): Record<string, object> => (usesTools(params) ? { tools: {} } : {}),
  takes: (declared, params) => !usesTools(params) || 'tools' in declared,
}
