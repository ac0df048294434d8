import { developer } from '#shared/http/authenticate/developer.ts'
import { serve } from '#shared/http/serve.ts'
import { endpoints } from './endpoints.ts'

export const handler = serve(endpoints, { developer })
