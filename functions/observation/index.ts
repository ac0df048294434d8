import { admin } from '#shared/http/authenticate/admin.ts'
import { serveWatching } from '#shared/http/serve-watching.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveWatching(endpoints, { admin })
