import type { ClientMethod } from './client-method.ts'

const isForAddress = (params: object): boolean => 'mode' in params && params.mode === 'url'

/** A form that a person fills, or an address that they open. */
export const ELICITATION: ClientMethod = {
  method: 'elicitation/create',
  capability: 'elicitation',
  needs: (params): Record<string, object> => (isForAddress(params) ? { url: {} } : {}),
  // Clients that name no mode take forms.
  takes: (declared, params) => (isForAddress(params) ? 'url' in declared : 'form' in declared || !('url' in declared)),
}
