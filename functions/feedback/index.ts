import { consoleUser } from '#shared/http/authenticate/console.ts'
import { serve } from '#shared/http/serve.ts'
import { endpoints } from './endpoints.ts'

export const handler = serve(endpoints, { console: consoleUser })
