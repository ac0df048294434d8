import { consoleUser } from '#shared/http/authenticate/console.ts'
import { integration } from '#shared/http/authenticate/integration.ts'
import { serveWaiting } from '#shared/http/serve-waiting.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveWaiting(endpoints, { integration, console: consoleUser })
