import { integration } from '#shared/http/authenticate/integration.ts'
import { serve } from '#shared/http/serve.ts'
import { endpoints } from './endpoints.ts'

export const handler = serve(endpoints, { integration })
