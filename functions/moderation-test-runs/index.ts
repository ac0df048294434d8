import { admin } from '#shared/http/authenticate/admin.ts'
import { serveWaiting } from '#shared/http/serve-waiting.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveWaiting(endpoints, { admin })
