import { createOutgoingHttp } from '../adapters/outgoing-http/client.ts'
import type { Authenticators } from './authenticate/types.ts'
import type { Endpoint } from './endpoint.ts'
import type { RequestHandler } from './pipeline.ts'
import { serveWaiting } from './serve-waiting.ts'

/** {@link serveWaiting} for endpoints that call agents or receivers themselves: only their bundle carries the way out. */
export const serveCalling = (endpoints: readonly Endpoint[], authenticators: Authenticators): RequestHandler =>
  serveWaiting(endpoints, authenticators, createOutgoingHttp)
