import { developer } from '#shared/http/authenticate/developer.ts'
import { integration } from '#shared/http/authenticate/integration.ts'
import { serveCalling } from '#shared/http/serve-calling.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveCalling(endpoints, { integration, developer })
