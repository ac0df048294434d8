import type { Answer } from './platform.ts'

/** Returns the platform's error object of a response. A JSON-RPC error carries it as its `data`. */
export const platformErrorOf = ({ body }: Answer) => (body?.jsonrpc === '2.0' ? body.error?.data : body?.error)
