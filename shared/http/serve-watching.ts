import { createMonitoring } from '../adapters/monitoring.ts'
import { createAddressCheck } from '../adapters/outgoing-http/check-only.ts'
import type { Authenticators } from './authenticate/types.ts'
import { composeOnce } from './compose.ts'
import type { Endpoint } from './endpoint.ts'
import { createPipeline, type RequestHandler } from './pipeline.ts'

/** The handler of endpoints that declare the capability `metrics:read`: only they carry what reads the alarms. */
export const serveWatching = (endpoints: readonly Endpoint[], authenticators: Authenticators): RequestHandler =>
  createPipeline(endpoints, authenticators, async () =>
    composeOnce(createAddressCheck, undefined, undefined, createMonitoring),
  )
