import { createTelegramBot } from '../adapters/telegram.ts'
import type { Authenticators } from './authenticate/types.ts'
import { type CreateHttp, composeOnce } from './compose.ts'
import type { Endpoint } from './endpoint.ts'
import { createPipeline, type RequestHandler } from './pipeline.ts'

const refuse = (): never => {
  throw new Error('the bot calls nobody but the Bot API')
}

/** Nothing here takes an address from anybody. */
const noHttp: CreateHttp = () => ({ send: refuse, checkAddress: refuse })

/** The handler of endpoints that declare the capability `bot`: only they carry the Bot API's client. */
export const serveWithBot = (endpoints: readonly Endpoint[], authenticators: Authenticators = {}): RequestHandler =>
  createPipeline(endpoints, authenticators, async () => composeOnce(noHttp, createTelegramBot))
