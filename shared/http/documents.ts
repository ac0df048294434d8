import type { Group } from './endpoint.ts'

/** Groups of endpoints in each OpenAPI document, by the document's name. `openapi` is the complete one. */
export const DOCUMENTS = {
  openapi: ['oauth', 'connect', 'api', 'mcp', 'a2a', 'developer', 'console', 'admin', 'docs'],
  integration: ['oauth', 'api'],
  developer: ['developer'],
  console: ['console'],
  admin: ['admin'],
} as const satisfies Record<string, readonly Group[]>

export type DocumentName = keyof typeof DOCUMENTS

export const DOCUMENT_NAMES = Object.keys(DOCUMENTS) as DocumentName[]
