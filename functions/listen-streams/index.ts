import { developer } from '#shared/http/authenticate/developer.ts'
import { serveWaiting } from '#shared/http/serve-waiting.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveWaiting(endpoints, { developer })
