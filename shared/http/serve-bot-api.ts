import { createBotSecret } from '../adapters/bot-secret.ts'
import { createOutgoingHttp } from '../adapters/outgoing-http/client.ts'
import type { Authenticators } from './authenticate/types.ts'
import { composeOnce } from './compose.ts'
import type { Endpoint } from './endpoint.ts'
import { createPipeline, type RequestHandler } from './pipeline.ts'

/** The handler of endpoints that speak to the Bot API as customers' bots, over the platform's own way out. */
export const serveWithBotApi = (endpoints: readonly Endpoint[], authenticators: Authenticators = {}): RequestHandler =>
  createPipeline(endpoints, authenticators, async () => composeOnce(createOutgoingHttp, createBotSecret))
