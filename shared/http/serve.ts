import { createAddressCheck } from '../adapters/outgoing-http/check-only.ts'
import type { Authenticators } from './authenticate/types.ts'
import { composeOnce } from './compose.ts'
import type { Endpoint } from './endpoint.ts'
import { createPipeline, type RequestHandler } from './pipeline.ts'

/** The Lambda handler of a group: its endpoints handed to the one request pipeline. */
export const serve = (endpoints: readonly Endpoint[], authenticators: Authenticators = {}): RequestHandler =>
  createPipeline(endpoints, authenticators, async () => composeOnce(createAddressCheck))
