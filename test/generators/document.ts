import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import { BASE_URL } from '#openapi/shared-components.ts'
import type { DocumentName } from '#shared/http/documents.ts'

/** Builds a document as a platform serves it. */
export const servedDocument = (name: DocumentName, baseUrl: string): string =>
  JSON.stringify(buildDocument(Object.values(requestFunctions).flat(), '1.0.0', name)).replaceAll(BASE_URL, baseUrl)
